"""How a call's cost came about: its quantities, times the rates of its price version."""

from collections.abc import Iterator
from dataclasses import replace

from msgspec import Struct

from ai.catalog.pricing import image_cost, speech_cost, token_cost, unit_cost
from ai.catalog.types import ImagePrice, Price, SpeechPrice, TokenPrice, UnitPrice
from billing.units import Unit, Units
from common.money import usd_text

_NUSD_PER_MICRO_USD = 1_000
_PICO_PER_USD = 10**12


class Step(Struct, frozen=True):
    """A line of the calculation, in words. The last line is the sum."""

    what: str
    quantity: str
    rate: str
    amount: str


def cost_steps(price: Price, units: Units, cost: int) -> list[Step]:
    """The calculation of that cost, in nano-USD. Where the price does not lead to it, the provider
    has told its own cost, and the only line says so."""
    steps, total = _steps(price, units, cost)
    if total != cost:
        return [Step("the provider's own cost, with the platform's fee", "", "", usd_text(cost))]
    return [*steps, Step("cost, rounded up to a nano-dollar", "", "", usd_text(cost))]


def _steps(price: Price, units: Units, cost: int) -> tuple[list[Step], int]:
    """The lines, and what they come to."""
    match price:
        case TokenPrice():
            return _of_tokens(price, units, cost)
        case SpeechPrice():
            return _of_speech(price, units.get("seconds", 0))
        case ImagePrice():
            return _of_images(price, units.get("images", 0), cost)
        case UnitPrice():
            unit: Unit = "seconds" if price.unit == "second" else "assets"
            quantity = units.get(unit) or units.get("images", 0)
            return _of_units(price, quantity, cost)


def _of_tokens(price: TokenPrice, units: Units, cost: int) -> tuple[list[Step], int]:
    """With the rate of cached input; without it where that leads to the cost, as a process of the
    release before has calculated."""
    tokens_in, tokens_out = units.get("tokens_in", 0), units.get("tokens_out", 0)
    cached = min(units.get("cached_tokens", 0), tokens_in)
    total = token_cost(price, tokens_in, tokens_out, cached)
    if total != cost and token_cost(price, tokens_in, tokens_out) == cost:
        price, total = replace(price, cached_input=None), cost
    return [*_of_input(price, tokens_in, cached), *_of_output(price, units)], total


def _of_input(price: TokenPrice, tokens: int, cached: int) -> Iterator[Step]:
    if not cached or price.cached_input is None:
        yield _tokens("input", tokens, price.input, price.fee)
        if cached:
            yield _part("of the input, from the provider's cache", cached)
        return
    yield _tokens("input, not cached", tokens - cached, price.input, price.fee)
    yield _tokens("input from the provider's cache", cached, price.cached_input, price.fee)


def _of_output(price: TokenPrice, units: Units) -> Iterator[Step]:
    yield _tokens("output", units.get("tokens_out", 0), price.output, price.fee)
    if reasoning := units.get("reasoning_tokens"):
        yield _part("of the output, for reasoning", reasoning)


def _tokens(what: str, tokens: int, rate: int, fee: int) -> Step:
    shown = _with_fee(rate * _NUSD_PER_MICRO_USD, fee * _NUSD_PER_MICRO_USD, "1,000,000")
    return Step(what, f"{tokens:,} tokens", shown, _pico_text(tokens * (rate + fee)))


def _part(what: str, tokens: int) -> Step:
    """At the price of the tokens that they are part of."""
    return Step(what, f"{tokens:,} tokens", "the same", "included")


def _of_speech(price: SpeechPrice, seconds: int) -> tuple[list[Step], int]:
    total = speech_cost(price, seconds)
    rate = _with_fee(price.per_hour, price.fee, "hour")
    return [Step("audio", f"{seconds:,} seconds", rate, usd_text(total))], total


def _of_images(price: ImagePrice, count: int, cost: int) -> tuple[list[Step], int]:
    """Of the quality that leads to the cost: a charge does not keep it."""
    for quality, rate in price.per_image.items():
        if image_cost(price, quality, count) == cost:
            of_one = _with_fee(rate, price.fee, "picture")
            return [Step(f"{quality} quality", f"{count:,} pictures", of_one, usd_text(cost))], cost
    return [], -1


def _of_units(price: UnitPrice, quantity: int, cost: int) -> tuple[list[Step], int]:
    """Of the variant that leads to the cost: a charge does not keep it."""
    for variant, rate in price.per_unit.items():
        if unit_cost(price, variant, quantity) == cost:
            of_one = _with_fee(rate, price.fee, price.unit)
            step = Step(variant, f"{quantity:,} {price.unit}s", of_one, usd_text(cost))
            return [step], cost
    return [], -1


def _with_fee(rate: int, fee: int, unit: str) -> str:
    return f"{usd_text(rate + fee)} per {unit} ({usd_text(rate)} and {usd_text(fee)} fee)"


def _pico_text(pico: int) -> str:
    """Pico-USD in US dollars, exactly."""
    dollars, rest = divmod(pico, _PICO_PER_USD)
    return f"${dollars:,}.{f'{rest:012}'.rstrip('0').ljust(2, '0')}"
