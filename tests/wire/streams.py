"""Bodies of chat streams as each look-alike sends them, after captures and the sources that presets.toml names."""

import json

from tests.wire.dialect_facts import data, sse


class Records:
    """How a chat says things."""

    marker = b"data: [DONE]\n\n"
    frame = staticmethod(data)

    def output(self, text: str) -> bytes:
        return sse({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})

    def finish(self, reason: str = "stop") -> bytes:
        return sse({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})

    def usage(self, prompt: int, output: int) -> bytes:
        return sse({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": output}})


def records(*objects, end="data: [DONE]\n\n", space=" ", newline="\n"):
    """Objects as data-only events; a string goes in as it is."""
    body = "".join(
        one if isinstance(one, str) else f"data:{space}{json.dumps(one, ensure_ascii=False)}{newline}{newline}"
        for one in objects
    )
    return (body + end).encode()


def chunk(delta, finish=None, **more):
    """One chat.completion.chunk."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1795000000, "choices": [choice], **more}


def usage(prompt, output, **more):
    return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output, **more}


OPENAI = records(
    chunk(
        {"role": "assistant", "content": "", "refusal": None}, model="gpt-5.4-nano", service_tier="default", usage=None
    ),
    chunk({"content": "Hel"}, model="gpt-5.4-nano", service_tier="default", usage=None, obfuscation="a8Fk"),
    chunk({"content": "lo\u2028!"}, model="gpt-5.4-nano", service_tier="default", usage=None, obfuscation="x"),
    chunk({}, "stop", model="gpt-5.4-nano", service_tier="default", usage=None),
    {
        **chunk({}, model="gpt-5.4-nano", service_tier="default"),
        "choices": [],
        "usage": usage(
            9,
            303,
            prompt_tokens_details={"cached_tokens": 4, "audio_tokens": 0},
            completion_tokens_details={"reasoning_tokens": 300},
        ),
    },
)
GLM = {"model": "zai-glm-4.7", "system_fingerprint": "fp_7b1c"}  # no chunk without both, says Cerebras' own client
CEREBRAS = records(
    chunk({"role": "assistant"}, **GLM),
    chunk({"reasoning": "Let me think"}, **GLM),
    chunk({"reasoning": " about it."}, **GLM),
    chunk({"content": "Forty-two, of course"}, **GLM),
    chunk(
        {},
        "stop",
        **GLM,
        usage=usage(
            12, 104, completion_tokens_details={"reasoning_tokens": 80}, prompt_tokens_details={"cached_tokens": 0}
        ),
        time_info={
            "queue_time": 0.0005,
            "prompt_time": 0.002,
            "completion_time": 0.052,
            "total_time": 0.344,
            "created": 1795000000.1,
        },
    ),
)
GROQ_USAGE = usage(18, 662, queue_time=0.0485, prompt_time=0.0002, completion_time=2.65, total_time=2.6502)
GROQ = records(
    chunk({"role": "assistant", "content": ""}, model="openai/gpt-oss-20b", x_groq={"id": "req_01"}),
    chunk({"reasoning": "Hm"}, model="openai/gpt-oss-20b"),
    chunk({"content": "Yes"}, model="openai/gpt-oss-20b"),
    chunk(
        {},
        "stop",
        model="openai/gpt-oss-20b",
        x_groq={"id": "req_01", "usage": GROQ_USAGE, "service_tier": "on_demand"},
        usage=GROQ_USAGE,
    ),
)
MISTRAL = records(
    chunk({"role": "assistant", "content": ""}, model="magistral-medium"),
    chunk(
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Okay"}]}]}, model="magistral-medium"
    ),
    chunk(
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": ", so"}]}]}, model="magistral-medium"
    ),
    chunk({"content": [{"type": "text", "text": "The answer"}]}, model="magistral-medium"),
    chunk({"content": " is 4."}, model="magistral-medium"),
    chunk({"content": ""}, "length", model="magistral-medium", usage=usage(10, 77)),
)
DEEPSEEK = records(
    ": keep-alive\n\n: keep-alive\n\n",
    chunk({"role": "assistant", "content": None, "reasoning_content": ""}, model="deepseek-v4-flash", usage=None),
    chunk({"content": None, "reasoning_content": "We"}, model="deepseek-v4-flash", usage=None),
    chunk({"content": "Hi", "reasoning_content": None}, model="deepseek-v4-flash", usage=None),
    chunk(
        {"content": "", "reasoning_content": None},
        "stop",
        model="deepseek-v4-flash",
        usage=usage(
            20,
            218,
            prompt_cache_hit_tokens=16,
            prompt_cache_miss_tokens=4,
            completion_tokens_details={"reasoning_tokens": 205},
        ),
    ),
)
OPENROUTER = records(
    ": OPENROUTER PROCESSING\n\n",
    {**chunk({}), "choices": [], "provider": "Cerebras", "debug": {"echo_upstream_body": {}}},
    chunk(
        {
            "role": "assistant",
            "content": "",
            "reasoning": "Sure",
            "reasoning_details": [{"type": "reasoning.text", "text": "Sure", "index": 0}],
        },
        provider="Cerebras",
        model="openai/gpt-oss-120b",
    ),
    chunk({"content": "One"}, provider="Cerebras", model="openai/gpt-oss-120b"),
    ": OPENROUTER PROCESSING\n\n",
    chunk({"content": ""}, "stop", provider="Cerebras", model="openai/gpt-oss-120b", native_finish_reason="stop"),
    {
        **chunk({}, provider="Cerebras", model="openai/gpt-oss-120b"),
        "choices": [],
        "usage": usage(
            30,
            12,
            cost=0.0000135,
            cost_details={"upstream_inference_cost": None},
            prompt_tokens_details={"cached_tokens": 0},
        ),
    },
)
OPENROUTER_ERROR = records(
    chunk({"content": "One"}, provider="Together", model="m"),
    {
        **chunk({"content": ""}, "error", provider="Together", model="m"),
        "error": {
            "code": "server_error",
            "message": "Provider disconnected unexpectedly",
            "metadata": {"error_type": "provider_unavailable"},
        },
    },
    end="",
)
KIMI = records(
    chunk({"role": "assistant", "reasoning_content": "The"}, model="kimi-k2.6"),
    chunk({"content": "Done"}, model="kimi-k2.6"),
    {
        "id": "chatcmpl-1",
        "model": "kimi-k2.6",
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage(11, 60, cached_tokens=8)}],
    },
)
VLLM = records(
    chunk({"role": "assistant", "content": ""}, model="m", usage=usage(5, 0)),
    chunk({"reasoning": "a b", "reasoning_content": "a b"}, model="m", usage=usage(5, 3)),
    chunk({"content": " c"}, model="m", usage=usage(5, 4)),
    chunk({"content": ""}, "stop", model="m", usage=usage(5, 5)),
    {**chunk({}), "choices": [], "usage": usage(5, 5)},
)
VLLM_ERROR = records(
    chunk({"content": "x"}, model="m"),
    {
        "error": {
            "object": "error",
            "message": "EngineCore died",
            "type": "InternalServerError",
            "param": None,
            "code": 500,
        }
    },
)
LLAMA_CPP = records(
    ":\n\n",
    chunk({"role": "assistant", "content": None}, model="tiny.gguf"),
    chunk({"content": "Once"}, model="tiny.gguf"),
    chunk({}, "stop", model="tiny.gguf"),
    {
        **chunk({}, model="tiny.gguf"),
        "choices": [],
        "usage": usage(7, 64),
        "timings": {
            "cache_n": 3,
            "prompt_n": 4,
            "prompt_ms": 12.5,
            "prompt_per_second": 320.0,
            "predicted_n": 64,
            "predicted_ms": 800.0,
            "predicted_per_second": 80.0,
        },
    },
)
LLAMA_CPP_PER_TOKEN = records(
    chunk({"content": "On"}, timings={"prompt_n": 4, "prompt_ms": 9, "predicted_n": 1, "predicted_ms": 0.01}),
    chunk({"content": "ce upon"}, timings={"prompt_n": 4, "prompt_ms": 9, "predicted_n": 3, "predicted_ms": 25}),
    chunk({}, "length", timings={"cache_n": 2, "prompt_n": 4, "prompt_ms": 9, "predicted_n": 3, "predicted_ms": 25}),
)
SAMBANOVA = records(
    chunk({"role": "assistant", "content": "Hey"}, model="gpt-oss-120b"),
    chunk({"content": ""}, "stop", model="gpt-oss-120b"),
    {
        "id": "x",
        "model": "gpt-oss-120b",
        "choices": [],
        "usage": usage(
            9,
            100,
            time_to_first_token=0.25,
            total_latency=0.75,
            completion_tokens_per_sec=133.0,
            completion_tokens_after_first_per_sec=198.5,
            start_time=1795000000.0,
        ),
    },
)
FIREWORKS = records(
    chunk({"role": "assistant"}, model="accounts/fireworks/models/glm-5p2"),
    chunk({"reasoning_content": "Let"}, model="accounts/fireworks/models/glm-5p2"),
    chunk({"content": "Ok"}, model="accounts/fireworks/models/glm-5p2"),
    chunk(
        {},
        "stop",
        model="accounts/fireworks/models/glm-5p2",
        usage=usage(8, 50, prompt_tokens_details={"cached_tokens": 0}),
        perf_metrics={"prompt-tokens": 8, "server-time-to-first-token": "0.120", "server-processing-time": "0.620"},
    ),
)
OLLAMA = records(
    chunk({"role": "assistant", "content": "", "reasoning": "Hmm"}, model="qwen3:4b", system_fingerprint="fp_ollama"),
    chunk({"role": "assistant", "content": "Hi"}, model="qwen3:4b", system_fingerprint="fp_ollama"),
    chunk({"role": "assistant", "content": ""}, "stop", model="qwen3:4b", system_fingerprint="fp_ollama"),
    {**chunk({}, model="qwen3:4b"), "choices": [], "usage": usage(6, 9)},
)
LM_STUDIO = records(
    chunk({"role": "assistant", "reasoning": "So"}, model="openai/gpt-oss-20b"),
    chunk({"content": "Yes"}, model="openai/gpt-oss-20b"),
    chunk({}, "stop", model="openai/gpt-oss-20b"),
    {**chunk({}, model="openai/gpt-oss-20b"), "choices": [], "usage": usage(4, 6)},
    space="",
    newline="\r\n",
)
TOGETHER = records(
    {"id": "o", "model": "m", "choices": [{"index": 0, "text": "He", "delta": {"role": "assistant", "content": "He"}}]},
    {"id": "o", "model": "m", "choices": [{"index": 0, "text": "y", "delta": {"content": "y"}}]},
    {
        "id": "o",
        "model": "m",
        "choices": [{"index": 0, "text": "", "delta": {"content": ""}, "finish_reason": "stop"}],
        "usage": usage(3, 2),
    },
)
MERCURY = records(
    chunk({"role": "assistant", "content": "The quick brown fox "}, model="mercury-2"),
    chunk({"content": "The quick brown fox jumps."}, model="mercury-2"),
    chunk({}, "stop", model="mercury-2"),
    {**chunk({}, model="mercury-2"), "choices": [], "usage": usage(9, 11)},
)
MERCURY_DRAFTS = records(
    *(
        chunk(
            {"role": "assistant", "content": text, "tool_calls": []},
            "stop" if progress == 1 else None,
            model="mercury-2.5",
            diffusion_meta={"diffusion_content": True, "diffusion_progress": progress},
            reasoning_summary=None,
        )
        for text, progress in (("Teh qui%k", 0), ("The quick br!wn", 0.5), ("The quick brown fox", 1))
    ),
    chunk({}, "stop", model="mercury-2.5"),
    {**chunk({}, model="mercury-2.5"), "choices": [], "usage": usage(9, 5)},
)
XAI = records(
    chunk({"role": "assistant", "content": "Hi"}, model="grok"),
    {
        **chunk({}, "stop", model="grok"),
        "usage": {
            "prompt_tokens": 12,
            "completion_tokens": 2,
            "total_tokens": 354,
            "completion_tokens_details": {"reasoning_tokens": 340},
        },
    },
)

ALL = {
    name.lower(): body
    for name, body in globals().copy().items()
    if isinstance(body, bytes) and not name.startswith("_")
}
