"""Usage objects of chat completions: token counts and server timings as each provider sends them.

By the documents and clients that `probes/config/presets.toml` names of each (`docs` and `source`).
"""

import time
from typing import Any

from probes.simulator.answer_plan import AnswerPlan
from probes.simulator.behaviour import Behaviour
from probes.simulator.request import AnswerRequest


def usage(behaviour: Behaviour, plan: AnswerPlan, written: int | None = None) -> dict[str, Any]:
    """The usage object; ``written`` output tokens so far for a running one, None for the whole answer."""
    output = plan.output_tokens if written is None else written
    reasoning = min(output, plan.reasoning_tokens)
    completion = output if behaviour.reasoning_counted else output - reasoning
    counts: dict[str, Any] = {
        "prompt_tokens": plan.input_tokens,
        "completion_tokens": completion,
        "total_tokens": plan.input_tokens + output,
    }
    if behaviour.reasoning_tokens is not None and behaviour.reasoning_split:
        counts["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    if written is None:
        counts |= _times_in_usage(behaviour, plan)
    return counts | dict(behaviour.usage_extra)


def timings(behaviour: Behaviour, request: AnswerRequest, plan: AnswerPlan) -> dict[str, Any]:
    """Server timings that stand beside the usage, as top-level fields of a chunk; empty for other styles."""
    queue_s, prefill_s, decode_s = plan.queue_ms / 1000, plan.prefill_ms / 1000, plan.decode_ms / 1000
    match behaviour.timings:
        case "cerebras":
            times = {"queue_time": queue_s, "prompt_time": prefill_s, "completion_time": decode_s}
            total_s = queue_s + prefill_s + decode_s
            return {"time_info": {**times, "total_time": total_s, "created": int(time.time())}}
        case "fireworks" if request.body.get("perf_metrics_in_response") is True:
            first_s, total_s = plan.ttft_ms / 1000, plan.ttft_ms / 1000 + decode_s
            return {
                "perf_metrics": {
                    "server-time-to-first-token": first_s,
                    "server-processing-time": total_s,
                }
            }
        case "llamacpp":
            return {"timings": llamacpp(plan, plan.output_tokens)}
        case _:
            return {}


def _times_in_usage(behaviour: Behaviour, plan: AnswerPlan) -> dict[str, Any]:
    queue_s, prefill_s, decode_s = plan.queue_ms / 1000, plan.prefill_ms / 1000, plan.decode_ms / 1000
    match behaviour.timings:
        case "groq":  # its total leaves the queue out
            times = {"queue_time": queue_s, "prompt_time": prefill_s, "completion_time": decode_s}
            return {**times, "total_time": prefill_s + decode_s}
        case "sambanova":
            first_s, total_s = plan.ttft_ms / 1000, plan.end_ms / 1000
            ended = time.time()
            return {
                "time_to_first_token": first_s,
                "total_latency": total_s,
                "start_time": ended - total_s,
                "end_time": ended,
                "completion_tokens_per_sec": plan.output_tokens / total_s if total_s else 0.0,
                "completion_tokens_after_first_per_sec": plan.tokens_per_s,
            }
        case _:
            return {}


def llamacpp(plan: AnswerPlan, written: int) -> dict[str, Any]:
    """llama.cpp's timings after ``written`` tokens; it sends them on every chunk where the request asks for them."""
    decode_ms = written * 1000 / plan.tokens_per_s
    return {
        "cache_n": 0,
        "prompt_n": plan.input_tokens,
        "prompt_ms": plan.prefill_ms,
        "prompt_per_token_ms": plan.prefill_ms / plan.input_tokens,
        "prompt_per_second": plan.input_tokens * 1000 / plan.prefill_ms if plan.prefill_ms else 0.0,
        "predicted_n": written,
        "predicted_ms": decode_ms,
        "predicted_per_token_ms": 1000 / plan.tokens_per_s,
        "predicted_per_second": plan.tokens_per_s,
    }
