"""The demo's local servers: vLLM, SGLang, llama.cpp, Ollama and LM Studio, without a key, a price or a limit."""

from typing import Final

from probes.simulator.behaviour import Behaviour, HealthSchedule, Incident
from probes.simulator.demo.model import LONG, DemoModel
from probes.simulator.distribution import Constant, LogNormal, Normal, Sometimes
from probes.simulator.faults.fault import ReplacedResponse

_LOADING: Final = ReplacedResponse(
    503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}
)

LOCAL: Final = (
    DemoModel(
        "vllm",
        "vllm/gpt-oss-120b",
        "/models/gpt-oss-120b",  # by the path it was started with
        Behaviour(
            ttft_ms=LogNormal(70, 0.2),
            queue_share=0.0,
            tokens_per_s=Normal(175, 8),
            output_tokens=Constant(160),
            reasoning_tokens=Normal(50, 12),
            usage="every_chunk",
        ),
        interval=8.0,
        group="gpt-oss-120b",
    ),
    DemoModel(
        "sglang",
        "sglang/llama-3.1-8b",
        "meta-llama/Llama-3.1-8B-Instruct",
        Behaviour(
            ttft_ms=LogNormal(45, 0.2),
            queue_share=0.0,
            tokens_per_s=Normal(320, 30),
            tokens_per_chunk=Normal(3.4, 1.0),  # speculative decoding
            output_tokens=LONG,
            usage="every_chunk",
        ),
        interval=6.0,
        group="llama-3.1-8b",
    ),
    DemoModel(
        "llamacpp",
        "llamacpp/gpt-oss-20b",
        "gpt-oss-20b",
        Behaviour(
            ttft_ms=LogNormal(160, 0.15),
            queue_share=0.0,
            tokens_per_s=Normal(85, 5),
            output_tokens=Constant(110),
            reasoning_tokens=Constant(30),
            reasoning_style="reasoning_content",
            usage_when_asked=True,
            timings="llamacpp",
            health=HealthSchedule((Incident(48, 6, 140, fault=_LOADING),)),
        ),
        interval=8.0,
        group="gpt-oss-20b",
    ),
    DemoModel(
        "ollama-native",
        "ollama/gemma",
        "gemma3:12b",
        Behaviour(
            load_ms=Sometimes(0.08, LogNormal(2_400, 0.15)),
            ttft_ms=LogNormal(130, 0.15),
            queue_share=0.0,
            tokens_per_s=Normal(48, 3),
            output_tokens=Constant(90),
        ),
        interval=6.0,
    ),
    DemoModel(
        "lmstudio",
        "lmstudio/gpt-oss-20b",
        "gpt-oss-20b-mlx",
        Behaviour(
            load_ms=Sometimes(
                0.06, LogNormal(3_200, 0.15)
            ),  # it loads just in time, inside TTFT; no field has the time
            ttft_ms=LogNormal(230, 0.2),
            queue_share=0.0,
            tokens_per_s=Normal(62, 4),
            output_tokens=Constant(90),
            reasoning_tokens=Constant(20),
            usage_when_asked=True,
        ),
        interval=8.0,
        group="gpt-oss-20b",
    ),
)
