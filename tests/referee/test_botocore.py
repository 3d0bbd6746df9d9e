"""Amazon's own client library as the judge: its frame decoder, its service model, its requests."""

import json
from functools import cache

import pytest

from probes.conversation import Message
from probes.wire.bedrock_converse import _EXCEPTIONS, Wire
from probes.wire.event_stream import EventStreamDecoder, Frame
from tests.samples import endpoint
from tests.wire.test_bedrock_converse import MODEL, STREAMS

pytest.importorskip("botocore", reason="the extra bedrock")

TALK = (Message("user", "Hi."), Message("assistant", "Yes?"), Message("user", "Tell."))


@cache
def service():
    from botocore.session import Session

    return Session().get_service_model("bedrock-runtime")


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("size", [1, 7, 4096])
def test_frames_are_what_botocore_reads(name, size):
    from botocore.eventstream import EventStreamBuffer

    body, buffer = STREAMS[name], EventStreamBuffer()
    judged = []
    for at in range(0, len(body), size):
        buffer.add_data(body[at : at + size])
        judged += [Frame(one.headers, one.payload) for one in buffer]
    decoder = EventStreamDecoder()
    assert [one for at in range(0, len(body), size) for one in decoder.feed(body[at : at + size])] == judged


def test_every_event_and_exception_of_a_stream_is_known():
    """A new one in a later botocore fails here: then somebody must say what it means."""
    members = service().operation_model("ConverseStream").get_event_stream_output().members
    assert members.keys() == {
        "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
        *(name for name, shape in members.items() if shape.metadata.get("exception")),
    }  # fmt: skip
    named = [name for name, shape in members.items() if shape.metadata.get("exception")]
    named += [one.name for one in service().operation_model("ConverseStream").error_shapes]
    assert {one.lower().removesuffix("exception") for one in named} <= _EXCEPTIONS.keys()


def test_the_fields_that_are_read_are_those_of_the_model():
    members = service().operation_model("ConverseStream").get_event_stream_output().members
    delta = members["contentBlockDelta"].members["delta"].members
    assert {"text", "reasoningContent", "toolUse"} <= delta.keys()
    assert (delta["reasoningContent"].members["text"].type_name, delta["toolUse"].members["input"].type_name) == (
        "string",
        "string",
    )
    usage = members["metadata"].members["usage"].members
    assert {"inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"} <= usage.keys()
    assert "stopReason" in members["messageStop"].members
    metadata = members["metadata"].members
    assert "invokedModelId" in metadata["trace"].members["promptRouter"].members
    assert "latency" in metadata["performanceConfig"].members


@pytest.mark.parametrize(
    "model", [MODEL, "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.meta.llama3-v1:0"]
)
def test_a_request_is_what_botocore_would_send(model):
    from botocore.serialize import create_serializer
    from botocore.validate import ParamValidator

    one = endpoint(base_url="https://host", model=model, system="Be brief.", messages=TALK)
    request = Wire().request(one, one.conversation, None)
    body = json.loads(request.body)
    operation = service().operation_model("ConverseStream")
    parameters = {"modelId": model, **body}
    assert ParamValidator().validate(parameters, operation.input_shape).generate_report() == ""
    theirs = create_serializer("rest-json").serialize_to_request(parameters, operation)
    assert request.url == f"https://host{theirs['url_path']}"
    assert (request.method, body) == (theirs["method"], json.loads(theirs["body"]))


def test_the_service_that_requests_are_signed_for():
    from probes.preset import presets

    assert presets()["bedrock"].aws_service == service().signing_name
