"""View only, nothing but a size reaches the viewer; with keys, what is typed does too; nothing else ever does."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.browser.messages import UnknownMessageError, passed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    max_leaves=8,
)


def packet(kind, payload):
    return kind + len(payload).to_bytes(4, "big") + payload


@pytest.mark.parametrize(
    "text", ["q", "\r", "\x03", "\x1b[<0;10;10M", "\x1b[200~rm -rf\x1b[201~", "\x1b[48;9999;9999t"]
)
def test_view_only_drops_keys_mouse_and_pasted_text(text):
    assert passed(json.dumps(["stdin", text]), allow_keys=False) == (b"", "")
    assert passed('["focus"]', allow_keys=False) == passed('["blur"]', allow_keys=False) == (b"", "")


def test_keys_reach_the_viewer_where_they_may():
    assert passed('["stdin", "é"]', allow_keys=True).to_viewer == packet(b"D", "é".encode())
    assert passed('["stdin", "\\ud800"]', allow_keys=True).to_viewer == packet(b"D", b"?")
    assert passed('["blur"]', allow_keys=True).to_viewer == packet(b"M", b'{"type": "blur"}')


@pytest.mark.parametrize(
    ("width", "height", "becomes"), [(80, 24, (80, 24)), (10**9, 10**9, (500, 200)), (-1, 0, (20, 6))]
)
def test_a_size_is_brought_within_bounds(width, height, becomes):
    for allow_keys in (False, True):
        sent = passed(json.dumps(["resize", {"width": width, "height": height}]), allow_keys=allow_keys).to_viewer
        said = json.loads(sent[5:])
        assert (said["type"], said["width"], said["height"]) == ("resize", *becomes)


def test_a_ping_is_answered_to_the_browser_alone():
    assert passed('["ping", "123"]', allow_keys=False) == (b"", '["pong", "123"]')


@pytest.mark.parametrize(
    "message",
    [
        *("", "x", "{}", "[]", "null", "1", '"stdin"', "[" * 2000, '["quit"]', '["deliver_chunk_request", {}]'),
        *('["stdin"]', '["stdin", 1]', '["stdin", "a", "b"]', '["resize", {}]', '["resize", {"width": 1}]'),
        *('["resize", {"width": true, "height": 1}]', '["resize", {"width": 1.5, "height": NaN}]'),
    ],
)
def test_what_no_page_of_ours_sends_ends_it(message):
    for allow_keys in (False, True):
        with pytest.raises(UnknownMessageError):
            passed(message, allow_keys=allow_keys)


@given(JSON)
def test_whatever_comes_is_dropped_refused_or_a_size(value):
    try:
        sent = passed(json.dumps(value), allow_keys=False).to_viewer
    except UnknownMessageError:
        return
    assert not sent or json.loads(sent[5:])["type"] == "resize"
