"""How Gemini counts tokens, in text and in pictures."""

from simulator.chat_types import Spent
from simulator.provider import Json


def usage(spent: Spent) -> Json:
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
