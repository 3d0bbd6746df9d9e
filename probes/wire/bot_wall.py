"""Bot wall: whether a response is that of a guard before the API, which takes us for a robot; pure.

Such a guard answers in place of the API, mostly with a page that asks a browser to run a script, under 403, 503, 429,
405, 202 or even 200. Nothing is wrong with the key, nor with the model.
"""

import re
from collections.abc import Mapping
from typing import Final

from probes.text import line

PAGE_LIMIT: Final = 64 << 10
"""Bytes of a page that are searched."""

_HEADERS: Final = {
    # header: what it says where the response is a wall's, and whose it is
    "cf-mitigated": ("challenge", "Cloudflare"),  # developers.cloudflare.com, detect a challenge page response
    "x-amzn-waf-action": ("challenge|captcha", "AWS WAF"),  # docs.aws.amazon.com/waf, CAPTCHA and Challenge
    "x-vercel-mitigated": ("challenge|deny", "Vercel"),
}
_PAGES: Final = (
    # whose, what is in the pages that it puts in place of others, and on no other page of its sites; under which status
    (
        "Cloudflare",
        re.compile(
            rb"<title>(?:Just a moment\.\.\.|Attention Required! \| Cloudflare|Please Wait\.\.\. \| Cloudflare)"
            rb"|_cf_chl_opt|Sorry, you have been blocked",
            re.IGNORECASE,
        ),
        range(200, 600),
    ),
    (
        "Akamai",
        re.compile(rb"<title>Access Denied</title>.{0,600}?Reference|bm-verify", re.IGNORECASE | re.DOTALL),
        range(200, 500),
    ),
    ("AWS WAF", re.compile(rb"gokuProps"), range(200, 500)),
    ("Imperva", re.compile(rb"Incapsula incident ID|<iframe[^>]{0,200}_Incapsula_Resource"), range(200, 500)),
    ("DataDome", re.compile(rb"geo\.captcha-delivery\.com"), range(200, 500)),
    ("HUMAN", re.compile(rb"px-captcha"), range(200, 500)),
    ("Vercel", re.compile(rb"<title>Vercel Security Checkpoint"), range(200, 500)),
    ("Sucuri", re.compile(rb"<title>Sucuri Website Firewall"), range(200, 500)),
    ("F5", re.compile(rb"The requested URL was rejected\. Please consult with your administrator"), range(200, 500)),
    (
        "",  # anybody's
        re.compile(rb"<title>[^<]{0,80}(?:captcha|are you (?:a )?(?:human|robot)|human verification)", re.IGNORECASE),
        range(200, 500),
    ),
)

ADVICE: Final = "the request did not reach the API; ask the provider to let this address through, or probe from another"


def bot_wall(status: int, headers: Mapping[str, str], body: bytes) -> str | None:
    """In words: that it is such a response, and what to do; None where it is none. Header names are in lower case."""
    whose = _walled_by(status, headers, body[:PAGE_LIMIT])
    if whose is None:
        return None
    title = re.search(rb"<title[^<>]*>([^<]{1,200})", body[:PAGE_LIMIT], re.IGNORECASE)
    page = f', its page is "{line(title[1].decode("utf-8", "replace"), 60)}"' if title else ""
    return f"blocked by a bot wall{f' ({whose})' if whose else ''}{page}: {ADVICE}"


def is_walled(headers: Mapping[str, str]) -> bool:
    """Whether the headers alone say so, whatever the status is."""
    return _by_headers(headers) is not None


def _walled_by(status: int, headers: Mapping[str, str], page: bytes) -> str | None:
    if whose := _by_headers(headers):
        return whose
    is_page = page.lstrip()[:1] == b"<" or "html" in headers.get("content-type", "")
    if not is_page and not page.startswith(b'{"url":"https://geo.captcha-delivery.com/'):  # DataDome's, for a script
        return None
    return next((whose for whose, pattern, under in _PAGES if status in under and pattern.search(page)), None)


def _by_headers(headers: Mapping[str, str]) -> str | None:
    for name, (said, whose) in _HEADERS.items():
        if re.fullmatch(said, headers.get(name, "").strip(), re.IGNORECASE):
            return whose
    return None
