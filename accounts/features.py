"""What an API key can be given of OpenAI's interface, beyond text."""

from collections.abc import Iterable
from typing import Literal, get_args

KeyFeature = Literal["tools", "structured_outputs", "vision"]
KEY_FEATURES: tuple[KeyFeature, ...] = get_args(KeyFeature)


def features_of(names: Iterable[str]) -> list[KeyFeature]:
    """The features with these names, each once and in their order. Raises ValueError for a name of
    none."""
    wanted = set(names)
    if not wanted <= set(KEY_FEATURES):
        raise ValueError(f"is a list of {', '.join(KEY_FEATURES)}, or of some of them")
    return [feature for feature in KEY_FEATURES if feature in wanted]
