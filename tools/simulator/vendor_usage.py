"""The usage formats of the providers that share OpenAI's chat wire, and of Gemini."""

from simulator.chat_types import Usage
from simulator.provider import Json


def openai(usage: Usage) -> Json:
    """All tokens of prompt and completion, with details of both."""
    return plain(usage) | {
        "prompt_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.cache_written,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def plain(usage: Usage) -> Json:
    """The three counts and nothing else."""
    completion = usage.text + usage.reasoning
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": completion,
        "total_tokens": usage.prompt + completion,
    }


def detailed(usage: Usage) -> Json:
    """The form of most others: cached tokens and reasoning tokens."""
    return plain(usage) | {
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def xai(usage: Usage) -> Json:
    """xAI counts reasoning beside the completion, not in it. A tick is 1e-10 USD."""
    more = {"num_sources_used": 0, "cost_in_usd_ticks": 1_466_250}
    return openai(usage) | {"completion_tokens": usage.text} | more


def deepseek(usage: Usage) -> Json:
    """DeepSeek divides the prompt into cached tokens and others."""
    return plain(usage) | {
        "prompt_cache_hit_tokens": usage.cached,
        "prompt_cache_miss_tokens": usage.prompt - usage.cached,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def flat(usage: Usage) -> Json:
    """Moonshot and Together put the cached tokens beside the counts."""
    return plain(usage) | {"cached_tokens": usage.cached}


def mistral(usage: Usage) -> Json:
    """Mistral does too, under another name."""
    return plain(usage) | {"num_cached_tokens": usage.cached}


def groq(usage: Usage) -> Json:
    """Groq adds durations in seconds."""
    return detailed(usage) | {
        "queue_time": 0.001,
        "prompt_time": 0.001,
        "completion_time": 0.01,
        "total_time": 0.012,
    }


def openrouter(usage: Usage) -> Json:
    """OpenRouter adds the price in USD."""
    return detailed(usage) | {"cost": 0.00014, "cost_details": {"upstream_inference_cost": None}}


def gemini(usage: Usage) -> Json:
    """The prompt includes cached tokens, the candidates exclude reasoning; zeros are left out."""
    total = usage.prompt + usage.text + usage.reasoning
    counts = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.text,
        "totalTokenCount": total,
        "cachedContentTokenCount": usage.cached,
        "thoughtsTokenCount": usage.reasoning,
    }
    reported = {name: count for name, count in counts.items() if count}
    details = [{"modality": "TEXT", "tokenCount": usage.prompt}]
    return (
        {"promptTokenCount": 0, "totalTokenCount": 0} | reported | {"promptTokensDetails": details}
    )
