"""Prices are exact whole numbers, rounded up once."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.catalog.pricing import (
    effective_cached_input,
    effective_image,
    effective_input,
    effective_output,
    effective_unit,
    speech_cost,
    unit_cost,
)
from ai.catalog.pricing import image_cost as cost_of_images
from ai.catalog.pricing import token_cost as cost_of_tokens
from ai.catalog.types import ImagePrice, SpeechPrice, TokenPrice, UnitPrice

RATES = st.integers(0, 10**9)


@st.composite
def token_prices(draw: st.DrawFn) -> TokenPrice:
    """As the database takes them: cached input is no dearer than other input, if it has a price."""
    plain, output, fee = draw(RATES), draw(RATES), draw(RATES)
    return TokenPrice(1, plain, output, fee, draw(st.none() | st.integers(0, plain)))


PRICES = token_prices()
COUNTS = st.integers(0, 10**7)

EMBEDDING = TokenPrice(1, input=20_000, output=0, fee=1_000_000)
FILM = UnitPrice(1, "second", {"720p": 200_000_000, "720p+audio": 400_000_000}, 10_000_000)
VARIANTS = st.dictionaries(st.text(), RATES, min_size=1, max_size=4)
PICTURE = ImagePrice(1, {"low": 6_000_000, "standard": 13_000_000, "high": 53_000_000}, 10_000_000)


def test_twelve_embedded_tokens_cost_what_the_list_says() -> None:
    assert cost_of_tokens(EMBEDDING, 12, 0) == 12_240


def test_a_fraction_of_a_nano_dollar_is_rounded_up() -> None:
    assert cost_of_tokens(TokenPrice(1, 1, 0, 0), 1, 0) == 1
    assert cost_of_tokens(TokenPrice(1, 1, 0, 0), 1_000, 0) == 1
    assert cost_of_tokens(TokenPrice(1, 1, 0, 0), 1_001, 0) == 2


def test_seven_thousand_of_8_009_tokens_from_a_cache_cost_their_own_rate() -> None:
    luna = TokenPrice(1, input=100_000, output=500_000, fee=1_000_000, cached_input=10_000)
    assert cost_of_tokens(luna, 8_009, 100) == 8_809_900 + 150_000
    assert cost_of_tokens(luna, 8_009, 100, 7_000) == 1_109_900 + 7_070_000 + 150_000


def test_the_parts_of_the_input_are_rounded_up_together() -> None:
    price = TokenPrice(1, input=3, output=0, fee=0, cached_input=1)
    assert cost_of_tokens(price, 500, 0, 250) == 1  # 750 and 250 pico-USD
    assert cost_of_tokens(price, 501, 0, 250) == 2


def test_nothing_costs_nothing() -> None:
    assert cost_of_tokens(EMBEDDING, 0, 0) == 0
    assert cost_of_images(PICTURE, "low", 0) == 0


@given(PRICES, COUNTS, COUNTS, st.data())
def test_the_cost_is_exact_and_whole(
    price: TokenPrice, tokens_in: int, tokens_out: int, data: st.DataObject
) -> None:
    cached = data.draw(st.integers(0, tokens_in))
    cached_rate = price.input if price.cached_input is None else price.cached_input
    usd = (
        Fraction(price.input + price.fee, 10**6) * Fraction(tokens_in - cached, 10**6)
        + Fraction(cached_rate + price.fee, 10**6) * Fraction(cached, 10**6)
        + Fraction(price.output + price.fee, 10**6) * Fraction(tokens_out, 10**6)
    )
    cost = cost_of_tokens(price, tokens_in, tokens_out, cached)
    assert type(cost) is int
    assert cost == ceil(usd * 10**9)
    if not cached:
        assert cost == cost_of_tokens(price, tokens_in, tokens_out)


@given(PRICES, COUNTS, COUNTS, COUNTS, COUNTS)
def test_more_of_the_input_from_a_cache_never_costs_more(
    price: TokenPrice, tokens_in: int, tokens_out: int, cached: int, more: int
) -> None:
    plain = cost_of_tokens(price, tokens_in, tokens_out)
    cost = cost_of_tokens(price, tokens_in, tokens_out, cached)
    assert cost_of_tokens(price, tokens_in, tokens_out, cached + more) <= cost <= plain
    if price.cached_input is None:
        assert cost == plain


@given(PRICES, COUNTS, COUNTS, COUNTS)
def test_no_more_counts_as_cached_than_there_is_of_input(
    price: TokenPrice, tokens_in: int, tokens_out: int, more: int
) -> None:
    all_cached = cost_of_tokens(price, tokens_in, tokens_out, tokens_in)
    assert cost_of_tokens(price, tokens_in, tokens_out, tokens_in + more) == all_cached
    assert all_cached >= cost_of_tokens(price, 0, tokens_out)


@given(PRICES, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_more_tokens_never_cost_less(
    price: TokenPrice, tokens_in: int, tokens_out: int, more_in: int, more_out: int, cached: int
) -> None:
    cached = min(cached, tokens_in)
    assert cost_of_tokens(price, tokens_in, tokens_out, cached) <= cost_of_tokens(
        price, tokens_in + more_in, tokens_out + more_out, cached
    )


@pytest.mark.parametrize(("quality", "cost"), [("low", 16), ("standard", 23), ("high", 63)])
def test_a_picture_costs_its_quality_and_the_fee(quality: str, cost: int) -> None:
    assert cost_of_images(PICTURE, quality, 1) == cost * 1_000_000
    assert cost_of_images(PICTURE, quality, 3) == 3 * cost * 1_000_000


@given(RATES, RATES, COUNTS)
def test_a_second_of_audio_costs_its_part_of_an_hour(per_hour: int, fee: int, seconds: int) -> None:
    cost = speech_cost(SpeechPrice(1, per_hour, fee), seconds)
    assert type(cost) is int
    assert cost == ceil(Fraction((per_hour + fee) * seconds, 3_600))


def test_a_second_of_a_film_costs_its_variant_and_the_fee() -> None:
    assert unit_cost(FILM, "720p", 8) == 8 * 210_000_000
    assert unit_cost(FILM, "720p+audio", 8) == 8 * 410_000_000
    assert unit_cost(FILM, "720p", 0) == 0


@given(VARIANTS, RATES, COUNTS, COUNTS, st.data())
def test_the_cost_of_a_unit_is_whole_and_more_of_them_never_cost_less(
    rates: dict[str, int], fee: int, quantity: int, more: int, data: st.DataObject
) -> None:
    price = UnitPrice(1, "second", rates, fee)
    variant = data.draw(st.sampled_from(sorted(rates)))
    cost = unit_cost(price, variant, quantity)
    assert type(cost) is int
    assert cost == quantity * (rates[variant] + fee)
    assert cost <= unit_cost(price, variant, quantity + more)


def test_effective_rates_include_the_fee() -> None:
    assert effective_input(EMBEDDING) == 1_020_000
    assert effective_cached_input(EMBEDDING) == 1_020_000
    assert effective_cached_input(TokenPrice(1, 3, 4, 5, cached_input=2)) == 7
    assert effective_output(EMBEDDING) == 1_000_000
    assert effective_image(PICTURE, "low") == 16_000_000
    assert effective_unit(FILM, "720p+audio") == 410_000_000


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="zero"):
        cost_of_tokens(EMBEDDING, -1, 0)
    with pytest.raises(ValueError, match="zero"):
        cost_of_tokens(EMBEDDING, 0, -1)
    with pytest.raises(ValueError, match="zero"):
        cost_of_tokens(EMBEDDING, 1, 0, -1)
    with pytest.raises(ValueError, match="zero"):
        cost_of_images(PICTURE, "low", -1)
    with pytest.raises(ValueError, match="zero"):
        speech_cost(SpeechPrice(1, 1, 1), -1)
    with pytest.raises(ValueError, match="zero"):
        unit_cost(FILM, "720p", -1)


def test_a_quality_that_the_model_lacks_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        cost_of_images(PICTURE, "ultra", 1)


def test_a_variant_without_a_rate_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        unit_cost(FILM, "1080p", 1)
