"""Bodies of Ollama's native chat streams, after its docs/api and api/types.go."""

import json


def lines(*objects):
    """Objects as lines of JSON; a string goes in as it is."""
    return "".join(
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) + "\n" for one in objects
    ).encode()


def line_of(content="", **more):
    message = {"role": "assistant", "content": content, **more}
    return {"model": "qwen3:4b", "created_at": "2026-11-20T23:14:07.414671Z", "message": message, "done": False}


def done(reason="stop", **more):
    return {**line_of(), "done": True, "done_reason": reason, **more}


METRICS = {
    "total_duration": 174_560_334, "load_duration": 101_397_084, "prompt_eval_count": 11,
    "prompt_eval_duration": 13_074_791, "eval_count": 18, "eval_duration": 52_479_709,
}  # fmt: skip
"""In nanoseconds, as in docs/api/usage."""

TEXT = lines(line_of("Hel"), line_of("lo\u2028\u0085!"), done(**METRICS))
THINKING = lines(
    line_of(thinking="Hm"),
    line_of(thinking=", so"),
    line_of(""),
    line_of("Yes"),
    line_of("."),
    done("length", **METRICS),
)
CACHED = lines(
    line_of("Hi"), done(total_duration=80_000_000, load_duration=9_000_000, eval_count=2, eval_duration=30_000_000)
)
SILENT = lines(done(total_duration=5_000_000, load_duration=4_000_000, prompt_eval_count=11))
CLOUD = lines(
    {**line_of("Hi"), "remote_model": "gpt-oss:120b", "remote_host": "https://ollama.com"},
    done(total_duration=900_000_000, prompt_eval_count=70, eval_count=12),
)
TOOL = lines(line_of(tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}]), done(**METRICS))
FAILED = lines(line_of("On"), {"error": "an error was encountered while running the model"})

ALL = {
    name.lower(): body
    for name, body in globals().copy().items()
    if isinstance(body, bytes) and not name.startswith("_")
}
