"""Usage and server times in a record of chat completions, under all the names that look-alikes give them."""

from typing import Any

from probes.endpoint import Quirks
from probes.events import ServerTimes, Usage
from probes.wire.framing.json_values import count, mapping, number


def usage_options(quirks: Quirks) -> dict[str, Any]:
    """The request fields that ask for usage, and for a running count on every chunk (vLLM, SGLang); none where neither.

    Source: openai-python, ``chat_completion_stream_options_param.py``; vLLM's ``StreamOptions``.
    """
    if quirks.continuous_usage:
        return {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    return {"stream_options": {"include_usage": True}} if quirks.usage_option else {}


def usage_of(counts: dict[str, Any], timings: dict[str, Any]) -> Usage | None:
    """The token counts of a usage object; llama.cpp's ``timings`` stand in for what is not there."""
    prompt, output = count(counts.get("prompt_tokens")), count(counts.get("completion_tokens"))
    inputs, outputs = mapping(counts.get("prompt_tokens_details")), mapping(counts.get("completion_tokens_details"))
    cached = _first(
        inputs.get("cached_tokens"),
        counts.get("cached_tokens"),  # Kimi
        counts.get("prompt_cache_hit_tokens"),  # DeepSeek
        timings.get("cache_n"),
    )
    reasoning = _first(outputs.get("reasoning_tokens"), counts.get("reasoning_tokens"))
    if output is not None and reasoning and leaves_out(reasoning, prompt, output, count(counts.get("total_tokens"))):
        output += reasoning
    if output is None:
        output = count(timings.get("predicted_n"))
    if prompt is None and (evaluated := count(timings.get("prompt_n"))) is not None:
        prompt = evaluated + (cached or 0)
    # cost: OpenRouter's, and LiteLLM's own, whose headers x-litellm-response-cost-* are all 0.0 on a stream
    found = Usage(prompt, cached, output, reasoning, number(counts.get("cost")))
    return None if found == Usage() else found


def times_of(record: dict[str, Any], counts: dict[str, Any], output: int | None) -> ServerTimes | None:
    """The server's own times: llama.cpp (ms), Cerebras, Groq, SambaNova and Fireworks (seconds).

    ``prefill_ms`` of SambaNova and of Fireworks' shared deployments is their whole time to first token, waiting
    included: they do not send the two separately.
    """
    if timings := mapping(record.get("timings")):
        found = ServerTimes(
            prefill_ms=number(timings.get("prompt_ms")),
            decode_ms=number(timings.get("predicted_ms")),
            tokens_per_s=number(timings.get("predicted_per_second")),
        )
    elif metrics := mapping(record.get("perf_metrics")):
        first = _ms(metrics, "server-time-to-first-token")
        prefill, decode = _ms(metrics, "prefill-duration"), _ms(metrics, "generation-duration")
        found = ServerTimes(
            queue_ms=_ms(metrics, "prefill-queue-duration"),
            prefill_ms=first if prefill is None else prefill,
            decode_ms=_rest(_ms(metrics, "server-processing-time"), first) if decode is None else decode,
        )
    elif "time_to_first_token" in counts:
        first = _ms(counts, "time_to_first_token")
        found = ServerTimes(
            prefill_ms=first,
            decode_ms=_rest(_ms(counts, "total_latency"), first),
            tokens_per_s=number(counts.get("completion_tokens_after_first_per_sec")),  # the other one has TTFT in it
        )
    else:
        spans = mapping(record.get("time_info")) or counts
        decode = _ms(spans, "completion_time")
        found = ServerTimes(
            queue_ms=_ms(spans, "queue_time"),
            prefill_ms=_ms(spans, "prompt_time"),
            decode_ms=decode,
            tokens_per_s=round(output / decode * 1000, 3) if output and decode else None,
        )
    return None if found == ServerTimes() else found


def leaves_out(reasoning: int, prompt: int | None, output: int, total: int | None) -> bool:
    """Whether ``output`` cannot include ``reasoning``: too small for it, or the total only adds up with both (xAI)."""
    return reasoning > output or (total is not None and prompt is not None and prompt + output + reasoning <= total)


def _first(*values: object) -> int | None:
    return next((found for one in values if (found := count(one)) is not None), None)


def _ms(spans: dict[str, Any], name: str) -> float | None:
    seconds = number(spans.get(name))
    return None if seconds is None else round(seconds * 1000, 4)


def _rest(whole: float | None, part: float | None) -> float | None:
    return round(whole - part, 4) if whole is not None and part is not None and whole >= part else None
