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
    "x-amzn-waf-action": (
        "challenge|captcha",
        "AWS WAF",
    ),  # docs.aws.amazon.com/waf, CAPTCHA and Challenge
    "x-vercel-mitigated": ("challenge|deny", "Vercel"),
    "x-datadome": ("protected", "DataDome"),
}
_PAGES: Final = (
    (
        "Cloudflare",
        re.compile(
            rb"<title>(?:Just a moment\.\.\.|Attention Required! \| Cloudflare|Please Wait\.\.\. \| Cloudflare)"
            rb"|/cdn-cgi/challenge-platform/|cf-browser-verification|Sorry, you have been blocked",
            re.IGNORECASE,
        ),
    ),
    ("Akamai", re.compile(rb"errors\.edgesuite\.net|Reference&#32;&#35;|_abck|akamai-bm-|bm-verify")),
    ("AWS WAF", re.compile(rb"awswaf\.com|AwsWafIntegration|aws-waf-token")),
    ("Imperva", re.compile(rb"_Incapsula_Resource|Incapsula incident ID")),
    ("DataDome", re.compile(rb"captcha-delivery\.com")),
    ("HUMAN", re.compile(rb"px-captcha|/_px/|perimeterx", re.IGNORECASE)),
    ("Vercel", re.compile(rb"Vercel Security Checkpoint")),
    ("Sucuri", re.compile(rb"Sucuri Website Firewall")),
    ("F5", re.compile(rb"The requested URL was rejected\. Please consult with your administrator")),
    ("", re.compile(rb"<title>[^<]{0,80}(?:captcha|are you (?:a )?(?:human|robot)|human verification)", re.IGNORECASE)),
)
"""What is in their pages, and whose they are; the last is anybody's."""

ADVICE: Final = "the request did not reach the API; ask the provider to let this address through, or probe from another"


def bot_wall(headers: Mapping[str, str], body: bytes) -> str | None:
    """In words: that it is such a response, and what to do; None where it is none. Header names are in lower case."""
    whose = _walled_by(headers, body[:PAGE_LIMIT])
    if whose is None:
        return None
    title = re.search(rb"<title[^<>]*>([^<]{1,200})", body[:PAGE_LIMIT], re.IGNORECASE)
    page = f', its page is "{line(title[1].decode("utf-8", "replace"), 60)}"' if title else ""
    return f"blocked by a bot wall{f' ({whose})' if whose else ''}{page}: {ADVICE}"


def is_walled(headers: Mapping[str, str]) -> bool:
    """Whether the headers alone say so, whatever the status is."""
    return _by_headers(headers) is not None


def _walled_by(headers: Mapping[str, str], page: bytes) -> str | None:
    if whose := _by_headers(headers):
        return whose
    is_page = page.lstrip()[:1] == b"<" or "html" in headers.get("content-type", "")
    return next((whose for whose, pattern in _PAGES if pattern.search(page)), None) if is_page else None


def _by_headers(headers: Mapping[str, str]) -> str | None:
    for name, (said, whose) in _HEADERS.items():
        if re.fullmatch(said, headers.get(name, "").strip(), re.IGNORECASE):
            return whose
    return None
