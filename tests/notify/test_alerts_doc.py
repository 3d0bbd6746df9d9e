"""What the page about alerts says of the webhook: its JSON is a message, and its code knows our signature."""

import json
import re
import time
from pathlib import Path

from probes import typed_json
from probes.alerts.message import Message
from probes.keys.secret import Secret
from probes.notify.webhook import headers_of
from tests.notify.messages import message

PAGE = (Path(__file__).parents[2] / "docs" / "alerts.md").read_text(encoding="utf-8")


def block(language):
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found[1]


def test_the_json_of_the_webhook_is_a_message():
    from msgspec.json import Decoder

    shown = json.loads(block("json"))
    read = typed_json.decode(block("json"), Decoder(Message))
    assert json.loads(typed_json.encode(read)) == shown


def test_the_code_that_checks_a_signature_knows_ours_and_no_other():
    place = {}
    exec(block("python"), place)  # the page's own code
    body = typed_json.encode(message())
    now = int(time.time())
    sent = {name.title(): value for name, value in headers_of(message(), body, Secret("s3cret-of-ops"), now).items()}
    assert place["is_ours"]("s3cret-of-ops", sent, body)
    assert not place["is_ours"]("another-secret", sent, body)
    assert not place["is_ours"]("s3cret-of-ops", sent, body + b" ")
    assert not place["is_ours"]("s3cret-of-ops", {**sent, "X-Inftop-Timestamp": str(now - 9)}, body)
    old = {name.title(): one for name, one in headers_of(message(), body, Secret("s3cret-of-ops"), now - 900).items()}
    assert not place["is_ours"]("s3cret-of-ops", old, body)


def test_the_headers_are_named_as_they_are_sent():
    sent = {name.lower() for name in headers_of(message(), b"", Secret("s3cret-of-ops"), 0)}
    assert {name.lower() for name in re.findall(r"X-Inftop-\w+|Idempotency-Key", PAGE)} <= sent
