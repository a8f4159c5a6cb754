"""Each line of a call's calculation says a quantity, a rate and an amount; together they are its
cost."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from ai.catalog.pricing import speech_cost, token_cost
from ai.catalog.types import ImagePrice, Price, SpeechPrice, TokenPrice, UnitPrice
from billing.cost_steps import cost_steps
from billing.units import Units

TOKENS = TokenPrice(1, input=1_000_000, output=1_400_000, fee=100_000)
PICTURES = ImagePrice(
    2, MappingProxyType({"low": 10_000_000, "standard": 40_000_000, "high": 90_000_000}), 1_000_000
)
SPEECH = SpeechPrice(3, per_hour=360_000_000, fee=36_000_000)
CLIPS = UnitPrice(4, "second", MappingProxyType({"720p": 100_000_000, "1080p": 150_000_000}), 5)


def lines(price: Price, units: Units, cost: int) -> list[tuple[str, str, str, str]]:
    return [
        (step.what, step.quantity, step.rate, step.amount)
        for step in cost_steps(price, units, cost)
    ]


def test_tokens_are_exact_to_the_pico_dollar_and_rounded_up_once() -> None:
    price = TokenPrice(1, input=1, output=2, fee=0)
    assert token_cost(price, 1, 1) == 1
    assert lines(price, {"tokens_in": 1, "tokens_out": 1}, 1) == [
        (
            "input",
            "1 tokens",
            "$0.000001 per 1,000,000 ($0.000001 and $0.00 fee)",
            "$0.000000000001",
        ),
        (
            "output",
            "1 tokens",
            "$0.000002 per 1,000,000 ($0.000002 and $0.00 fee)",
            "$0.000000000002",
        ),
        ("cost, rounded up to a nano-dollar", "", "", "$0.000000001"),
    ]


def test_cached_and_reasoning_tokens_are_part_of_the_others() -> None:
    units: Units = {
        "tokens_in": 90,
        "tokens_out": 1_500,
        "cached_tokens": 64,
        "reasoning_tokens": 7,
    }
    cost = token_cost(TOKENS, 90, 1_500)
    assert lines(TOKENS, units, cost) == [
        ("input", "90 tokens", "$1.10 per 1,000,000 ($1.00 and $0.10 fee)", "$0.000099"),
        ("of the input, from the provider's cache", "64 tokens", "the same", "included"),
        ("output", "1,500 tokens", "$1.50 per 1,000,000 ($1.40 and $0.10 fee)", "$0.00225"),
        ("of the output, for reasoning", "7 tokens", "the same", "included"),
        ("cost, rounded up to a nano-dollar", "", "", "$0.002349"),
    ]


def test_cached_tokens_with_a_rate_of_their_own_are_a_line_of_their_own() -> None:
    price = replace(TOKENS, cached_input=250_000)
    units: Units = {"tokens_in": 90, "tokens_out": 1_500, "cached_tokens": 64}
    cost = token_cost(price, 90, 1_500, 64)
    assert lines(price, units, cost) == [
        (
            "input, not cached",
            "26 tokens",
            "$1.10 per 1,000,000 ($1.00 and $0.10 fee)",
            "$0.0000286",
        ),
        (
            "input from the provider's cache",
            "64 tokens",
            "$0.35 per 1,000,000 ($0.25 and $0.10 fee)",
            "$0.0000224",
        ),
        ("output", "1,500 tokens", "$1.50 per 1,000,000 ($1.40 and $0.10 fee)", "$0.00225"),
        ("cost, rounded up to a nano-dollar", "", "", "$0.002301"),
    ]
    assert lines(price, {"tokens_in": 90, "tokens_out": 1_500}, token_cost(price, 90, 1_500)) == [
        ("input", "90 tokens", "$1.10 per 1,000,000 ($1.00 and $0.10 fee)", "$0.000099"),
        ("output", "1,500 tokens", "$1.50 per 1,000,000 ($1.40 and $0.10 fee)", "$0.00225"),
        ("cost, rounded up to a nano-dollar", "", "", "$0.002349"),
    ]


def test_a_call_that_the_release_before_has_billed_is_explained_at_one_rate_of_input() -> None:
    price = replace(TOKENS, cached_input=250_000)
    units: Units = {"tokens_in": 90, "tokens_out": 1_500, "cached_tokens": 64}
    cost = token_cost(TOKENS, 90, 1_500)
    assert lines(price, units, cost) == lines(TOKENS, units, cost)
    assert len(lines(price, units, cost)) == 4


def test_the_quality_of_pictures_is_the_one_that_leads_to_their_cost() -> None:
    [line, total] = lines(PICTURES, {"images": 2}, 2 * 41_000_000)
    assert line == (
        "standard quality",
        "2 pictures",
        "$0.041 per picture ($0.04 and $0.001 fee)",
        "$0.082",
    )
    assert total[3] == "$0.082"


def test_seconds_of_audio_are_priced_by_the_hour() -> None:
    cost = speech_cost(SPEECH, 61)
    [line, total] = lines(SPEECH, {"seconds": 61}, cost)
    assert line == ("audio", "61 seconds", "$0.396 per hour ($0.36 and $0.036 fee)", "$0.00671")
    assert total[3] == "$0.00671"


def test_the_variant_of_a_clip_is_the_one_that_leads_to_its_cost() -> None:
    [line, _] = lines(CLIPS, {"seconds": 8}, 8 * 150_000_005)
    assert line[:2] == ("1080p", "8 seconds")


@pytest.mark.parametrize(
    ("price", "units"),
    [(TOKENS, {"tokens_in": 1}), (PICTURES, {"images": 3}), (CLIPS, {"seconds": 8})],
)
def test_a_cost_that_the_price_does_not_lead_to_is_the_provider_s(
    price: Price, units: Units
) -> None:
    assert lines(price, units, 123_457) == [
        ("the provider's own cost, with the platform's fee", "", "", "$0.000123457")
    ]
