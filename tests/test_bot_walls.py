"""Guards before an API, as they answer a client that runs no scripts: a bot wall, and nothing about the key."""

from typing import Any

import pytest

from probes.outcome import Outcome
from tests.raw_server import answering, probed, response

HTML = "Content-Type: text/html; charset=UTF-8"
JUST_A_MOMENT = (
    b'<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><meta http-equiv="Content-Type" '
    b'content="text/html; charset=UTF-8"><meta name="robots" content="noindex,nofollow"></head><body><noscript>'
    b'<span id="challenge-error-text">Enable JavaScript and cookies to continue</span></noscript><script>'
    b"(function(){window._cf_chl_opt={cvId:'3'};a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1';}())"
    b"</script></body></html>"
)
ATTENTION = (
    b"<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head><body>"
    b'<h1 data-translate="block_headline">Sorry, you have been blocked</h1></body></html>'
)
AKAMAI = (
    b"<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n \nYou don't have permission "
    b'to access "http&#58;&#47;&#47;api&#46;x&#46;com&#47;v1" on this server.<P>\nReference&#32;&#35;18&#46;8d1c2f17'
    b"&#46;1763800000&#46;3a1b\n<P>\nhttps&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18&#46;8d1c\n</BODY>\n</HTML>\n"
)
IMPERVA = (
    b'<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body><iframe '
    b'src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1-2">Request unsuccessful. Incapsula incident ID: 1-2</iframe></body>'
)
AWS = b'<!DOCTYPE html><html lang="en"><head><title>Human Verification</title><script>window.gokuProps = {};</script>'
DENIED = b'{"error": {"message": "You are not allowed to sample from this model", "type": "invalid_request_error"}}'
LIMITED = b"<html><head><title>Access denied | api.example.com used Cloudflare to restrict access</title></head></html>"

WALLS: dict[str, tuple[int, tuple[str, ...], bytes, str]] = {
    "Cloudflare's challenge": (
        403,
        (HTML, "cf-mitigated: challenge", "Server: cloudflare"),
        JUST_A_MOMENT,
        "Cloudflare",
    ),
    "Cloudflare's challenge without its header": (403, (HTML,), JUST_A_MOMENT, "Cloudflare"),
    "Cloudflare's challenge without its page": (403, ("cf-mitigated: challenge",), b"", "Cloudflare"),
    "Cloudflare's older challenge": (503, (HTML,), JUST_A_MOMENT, "Cloudflare"),
    "Cloudflare's challenge of a limiter": (429, (HTML, "cf-mitigated: challenge"), JUST_A_MOMENT, "Cloudflare"),
    "Cloudflare's block": (403, (HTML,), ATTENTION, "Cloudflare"),
    "Akamai": (403, (HTML, "Server: AkamaiGHost"), AKAMAI, "Akamai"),
    "Imperva as a success": (200, (HTML,), IMPERVA, "Imperva"),
    "Imperva": (403, (HTML,), IMPERVA, "Imperva"),
    "AWS's challenge": (202, (HTML, "x-amzn-waf-action: challenge"), b"", "AWS WAF"),
    "AWS's puzzle": (405, (HTML, "x-amzn-waf-action: captcha"), AWS, "AWS WAF"),
    "Vercel": (429, (HTML, "x-vercel-mitigated: challenge"), b"<title>Vercel Security Checkpoint</title>", "Vercel"),
    "DataDome, for a script": (
        403,
        ("Content-Type: application/json", "x-datadome: protected"),
        b'{"url":"https://geo.captcha-delivery.com/captcha/?initialCid=AHrlq&hash=1&t=fe"}',
        "DataDome",
    ),
    "anybody's": (403, (HTML,), b"<html><title>Are you human? Solve the captcha</title></html>", "bot wall"),
}


@pytest.mark.parametrize("dialect", ["openai_chat", "gemini", "openai_responses_ws"])
@pytest.mark.parametrize("name", WALLS)
async def test_a_wall_is_told_as_one_and_not_as_a_refused_key(name: str, dialect: str):
    status, headers, page, whose = WALLS[name]
    sample = await probed(answering(response(status, *headers, body=page)), dialect)
    if dialect == "openai_responses_ws" and status // 100 == 2:
        assert sample.outcome is not Outcome.AUTH
        return
    assert (sample.outcome, sample.http_status) == (Outcome.BAD_REQUEST, status), sample.outcome_detail
    assert (sample.outcome_detail or "").startswith("blocked by a bot wall")
    assert whose in (sample.outcome_detail or "")
    assert "let this address through" in (sample.outcome_detail or "")


@pytest.mark.parametrize(
    ("status", "headers", "body", "outcome"),
    [
        (403, ("Content-Type: application/json", "Server: cloudflare", "CF-RAY: 1-FRA"), DENIED, Outcome.AUTH),
        (401, ("Server: cloudflare",), b'{"error": {"message": "Incorrect API key provided"}}', Outcome.AUTH),
        (429, (HTML, "Server: cloudflare"), LIMITED, Outcome.RATE_LIMITED),
        (
            522,
            (HTML,),
            b"<html><title>api.example.com | 522: Connection timed out</title></html>",
            Outcome.SERVER_ERROR,
        ),
        # the guards' scripts and marks are on other pages of their sites too, and so are their own errors
        (
            404,
            (HTML,),
            b'<html><title>Not found</title><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js">',
            Outcome.NOT_FOUND,
        ),
        (
            404,
            (HTML,),
            b'<html><title>404</title><script src="/_Incapsula_Resource?SWJIYLWA=719d"></script>',
            Outcome.NOT_FOUND,
        ),
        (503, (HTML,), IMPERVA, Outcome.OVERLOADED),
        (
            400,
            (HTML,),
            b"<HTML><HEAD><TITLE>Invalid URL</TITLE></HEAD>Reference&#32;&#35;9&#46;8d1c</HTML>",
            Outcome.BAD_REQUEST,
        ),
        (429, ("x-datadome: protected",), b'{"error": {"message": "Rate limit reached"}}', Outcome.RATE_LIMITED),
        (403, (), b'{"error": {"message": "Solve the captcha at /_px/ just a moment..."}}', Outcome.AUTH),
    ],
)
async def test_what_is_no_wall_is_what_it_was(status: int, headers: Any, body: bytes, outcome: Outcome):
    sample = await probed(answering(response(status, *headers, body=body)))
    assert sample.outcome is outcome, sample.outcome_detail
    assert "bot wall" not in (sample.outcome_detail or "")
