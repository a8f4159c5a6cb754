"""The size of a demo call, and its price by the list."""

from random import Random

from msgspec import Struct

from ai.catalog.pricing import image_cost, token_cost
from ai.catalog.types import ImagePrice, Model, TokenPrice
from ai.inference.bounds import output_bound
from billing.units import Units

_QUALITIES = {"low": 2, "standard": 6, "high": 2}
_BYTES_PER_TOKEN = 5
_PROMPT, _ANSWER, _TEXT = 1_800, 520, 2_500  # tokens; half of all calls have more
_SPREAD = 0.9
_TOKENS_PER_SECOND = 70


class Size(Struct, frozen=True):
    """`worst` and `cost` are nano-USD at cost; `seconds` is the call's duration."""

    kind: str
    worst: int
    cost: int
    seconds: float
    units: Units = {}


def conversation(random: Random, model: Model, price: TokenPrice, length: float) -> Size:
    """A message and its answer; `length` makes the prompt longer."""
    most_out = output_bound(model)
    tokens_in = min(_about(random, _PROMPT * length), model.context_window // 2)
    tokens_out = min(_about(random, _ANSWER), most_out)
    input_bound = tokens_in * _BYTES_PER_TOKEN + model.prompt_overhead_tokens
    cached_tokens = tokens_in // 2 if random.random() < 0.3 else 0
    return Size(
        "chat",
        worst=token_cost(price, input_bound, most_out),
        cost=token_cost(price, tokens_in, tokens_out, cached_tokens),
        seconds=0.6 + tokens_out / _TOKENS_PER_SECOND,
        units={
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cached_tokens": cached_tokens,
            "reasoning_tokens": (
                tokens_out // 3 if model.reasoning and random.random() < 0.4 else 0
            ),
        },
    )


def texts(random: Random, price: TokenPrice) -> Size:
    """Texts for an embeddings model."""
    tokens = _about(random, _TEXT)
    return Size(
        "embeddings",
        worst=token_cost(price, tokens * _BYTES_PER_TOKEN, 0),
        cost=token_cost(price, tokens, 0),
        seconds=0.3,
        units={"tokens_in": tokens},
    )


def pictures(random: Random, price: ImagePrice) -> Size:
    """One picture, or now and then four."""
    [quality] = random.choices(list(_QUALITIES), list(_QUALITIES.values()))
    count = 4 if random.random() < 0.1 else 1
    cost = image_cost(price, quality, count)
    return Size("images", worst=cost, cost=cost, seconds=6.0 + 2.0 * count, units={"images": count})


def _about(random: Random, middle: float) -> int:
    """A length: most are near the middle, a few many times as long."""
    return max(1, round(middle * random.lognormvariate(0, _SPREAD)))
