"""How the price list states a model: its fields, and its prices in USD."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from ai.catalog.types import Modality

LISTED = date(2026, 10, 1)

TOKEN_FEE = 1_000_000  # micro-USD per 1,000,000 tokens: 1.00 USD
IMAGE_FEE = 10_000_000  # nano-USD per picture: 0.01 USD
SPEECH_FEE = 60_000_000  # nano-USD per hour of audio: 0.06 USD
VIDEO_FEE = 10_000_000  # nano-USD per second of video: 0.01 USD
ASSET_FEE = 20_000_000  # nano-USD per 3D asset: 0.02 USD

DEFAULT_MAX_OUTPUT = 32_768  # where the provider lists no limit


@dataclass(frozen=True, slots=True)
class Price:
    """A model's price from `since` on, in the units of `ai.catalog.models.PriceVersion`."""

    rates: dict[str, Any]
    since: date = LISTED


@dataclass(frozen=True, slots=True)
class ModelSeed:
    """One model: its fields as in `ai.catalog.models.AIModel`, former names, and prices by date.

    An empty `owned_by` is the provider, and an empty `upstream_model` the model's own id.
    """

    id: str
    display_name: str
    provider: str
    released_on: date
    context_window: int
    prices: tuple[Price, ...]
    modality: Modality = "chat"
    max_output_tokens: int = DEFAULT_MAX_OUTPUT
    owned_by: str = ""
    upstream_model: str = ""
    vision: bool = False
    tools: bool = False
    reasoning: bool = False
    reasons_unasked: bool = False
    prompt_overhead_tokens: int = 64
    minimum_seconds: int = 0
    free: bool = False
    params: dict[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()


def per_million(
    input_usd: str, output_usd: str, since: date = LISTED, *, cached_usd: str | None = None
) -> Price:
    """A price in USD per 1,000,000 tokens, plus the platform's fee. `cached_usd` is that of input
    from the provider's cache, None where the provider lists none."""
    rates = {
        "input": _scaled(input_usd, 6),
        "cached_input": None if cached_usd is None else _scaled(cached_usd, 6),
        "output": _scaled(output_usd, 6),
        "token_fee": TOKEN_FEE,
    }
    return Price(rates, since)


def per_image(low_usd: str, standard_usd: str, high_usd: str) -> Price:
    """A price in USD per picture, by quality, plus the platform's fee."""
    nano = {
        "image_low": _scaled(low_usd, 9),
        "image_standard": _scaled(standard_usd, 9),
        "image_high": _scaled(high_usd, 9),
    }
    return Price({**nano, "image_fee": IMAGE_FEE})


def per_hour(usd: str) -> Price:
    """A price in USD per hour of audio, plus the platform's fee."""
    return Price({"speech_hour": _scaled(usd, 9), "speech_fee": SPEECH_FEE})


def per_second(usd: Mapping[str, str]) -> Price:
    """A price in USD per second of video, by variant, plus the platform's fee."""
    return _per_unit(usd, VIDEO_FEE)


def per_asset(usd: Mapping[str, str]) -> Price:
    """A price in USD per 3D asset, by variant, plus the platform's fee."""
    return _per_unit(usd, ASSET_FEE)


def _per_unit(usd: Mapping[str, str], fee: int) -> Price:
    nano = {variant: _scaled(amount, 9) for variant, amount in usd.items()}
    return Price({"unit_rates": nano, "unit_fee": fee})


def _scaled(usd: str, digits: int) -> int:
    return int(Decimal(usd).scaleb(digits))
