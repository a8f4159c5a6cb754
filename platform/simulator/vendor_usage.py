"""Where providers put their token counts: those that share OpenAI's chat wire, and Gemini."""

from simulator.chat_types import Spent
from simulator.provider import Json


def openai(spent: Spent) -> Json:
    """Everything in the prompt and the completion, with details of both."""
    return plain(spent) | {
        "prompt_tokens_details": {
            "cached_tokens": spent.cached,
            "cache_write_tokens": spent.cache_written,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": spent.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def plain(spent: Spent) -> Json:
    """The three counts and nothing else."""
    completion = spent.text + spent.reasoning
    return {
        "prompt_tokens": spent.prompt,
        "completion_tokens": completion,
        "total_tokens": spent.prompt + completion,
    }


def detailed(spent: Spent) -> Json:
    """What most others tell: what was cached, what was reasoning."""
    return plain(spent) | {
        "prompt_tokens_details": {"cached_tokens": spent.cached},
        "completion_tokens_details": {"reasoning_tokens": spent.reasoning},
    }


def xai(spent: Spent) -> Json:
    """xAI counts reasoning beside the completion, not in it. A tick is 1e-10 USD."""
    more = {"num_sources_used": 0, "cost_in_usd_ticks": 1_466_250}
    return openai(spent) | {"completion_tokens": spent.text} | more


def deepseek(spent: Spent) -> Json:
    """DeepSeek splits the prompt into what its cache had and what not."""
    return plain(spent) | {
        "prompt_cache_hit_tokens": spent.cached,
        "prompt_cache_miss_tokens": spent.prompt - spent.cached,
        "completion_tokens_details": {"reasoning_tokens": spent.reasoning},
    }


def flat(spent: Spent) -> Json:
    """Moonshot and Together tell cached tokens beside the counts."""
    return plain(spent) | {"cached_tokens": spent.cached}


def groq(spent: Spent) -> Json:
    """Groq also tells how long everything took, in seconds."""
    return detailed(spent) | {
        "queue_time": 0.001,
        "prompt_time": 0.001,
        "completion_time": 0.01,
        "total_time": 0.012,
    }


def openrouter(spent: Spent) -> Json:
    """OpenRouter also tells the price, in USD."""
    return detailed(spent) | {"cost": 0.00014, "cost_details": {"upstream_inference_cost": None}}


def gemini(spent: Spent) -> Json:
    """The prompt includes what was cached, the candidates exclude the thoughts; what is nought is
    left out."""
    total = spent.prompt + spent.text + spent.reasoning
    counts = {
        "promptTokenCount": spent.prompt,
        "candidatesTokenCount": spent.text,
        "totalTokenCount": total,
        "cachedContentTokenCount": spent.cached,
        "thoughtsTokenCount": spent.reasoning,
    }
    told = {name: count for name, count in counts.items() if count}
    details = [{"modality": "TEXT", "tokenCount": spent.prompt}]
    return {"promptTokenCount": 0, "totalTokenCount": 0} | told | {"promptTokensDetails": details}
