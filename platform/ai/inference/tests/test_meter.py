"""What is billed of an answer, with and without the provider's own count."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.catalog.types import TokenPrice
from ai.inference.meter import Meter
from ai.providers.token_estimate import estimate_text
from ai.providers.tokens import estimate_input
from ai.providers.types import ChatEvent, Finish, Message, ReasoningDelta, TextDelta, Usage

PRICE = TokenPrice(version_id=1, input=1_000_000, output=2_000_000, fee=0)
CACHED = replace(PRICE, cached_input=100_000)
MESSAGES = (Message("user", "What is the capital of France?"),)
ESTIMATED_INPUT = estimate_input(MESSAGES)
SENTENCE = "The capital of France is Paris, which lies on the Seine."
THOUGHT = "The user asks for a capital; that of France is Paris."


def meter_of(*events: ChatEvent, price: TokenPrice = PRICE) -> Meter:
    meter = Meter(price, lambda: ESTIMATED_INPUT, input_bound=10_000, output_bound=5_000)
    for event in events:
        meter.take([event])
    return meter


def test_the_provider_s_count_wins() -> None:
    assert meter_of(TextDelta(SENTENCE), Usage(3, 5), Finish("stop")).usage == Usage(3, 5)


def test_a_count_of_nothing_counts_nothing_that_was_shown_and_is_noticed() -> None:
    meter = meter_of(TextDelta(SENTENCE), Usage(0, 0), Finish("stop"))
    assert meter.usage == Usage(ESTIMATED_INPUT, estimate_text(SENTENCE))
    assert meter.counts_nothing


def test_a_count_of_nothing_is_believed_where_nothing_was_shown() -> None:
    meter = meter_of(Usage(0, 0), Finish("stop"))
    assert meter.has_output
    assert meter.usage == Usage(0, 0)


def test_uncounted_text_is_billed_by_its_length_however_it_comes() -> None:
    whole = meter_of(TextDelta(SENTENCE))
    in_two = meter_of(TextDelta(SENTENCE[:20]), TextDelta(SENTENCE[20:]))
    assert whole.usage == in_two.usage == Usage(ESTIMATED_INPUT, estimate_text(SENTENCE))


def test_uncounted_text_has_a_token_for_each_delta() -> None:
    letters = [TextDelta(letter) for letter in "incomprehensible"]
    assert meter_of(*letters).usage.output_tokens == len(letters)


def test_uncounted_reasoning_is_billed_with_the_text() -> None:
    text, thought = estimate_text(SENTENCE), estimate_text(THOUGHT)
    usage = meter_of(ReasoningDelta(THOUGHT), TextDelta(SENTENCE)).usage
    assert usage == Usage(ESTIMATED_INPUT, text + thought, reasoning_tokens=thought)


def test_reasoning_that_was_counted_before_the_text_is_not_counted_twice() -> None:
    told = Usage(9, 0, reasoning_tokens=400)
    usage = meter_of(ReasoningDelta(THOUGHT), told, TextDelta(SENTENCE)).usage
    assert usage == Usage(9, 400 + estimate_text(SENTENCE), reasoning_tokens=400)


def test_the_input_is_billed_as_it_was_told_before_any_output() -> None:
    assert meter_of(Usage(5_000, 0), TextDelta(SENTENCE)).usage.input_tokens == 5_000


def test_a_broken_answer_is_billed_as_far_as_it_was_counted_and_estimated_beyond() -> None:
    usage = meter_of(TextDelta("Well."), Usage(3, 50), TextDelta(SENTENCE)).usage
    assert usage == Usage(3, 50 + estimate_text(SENTENCE))


def test_an_early_count_is_replaced_by_a_later_one() -> None:
    meter = meter_of(TextDelta("Well."), Usage(3, 2), TextDelta(SENTENCE), Usage(3, 14))
    assert meter.usage == Usage(3, 14)
    assert meter.is_counted


def test_text_after_a_count_is_not_counted() -> None:
    assert not meter_of(TextDelta("Well."), Usage(3, 2), TextDelta(SENTENCE)).is_counted


def test_nothing_beyond_the_bounds_is_billed() -> None:
    told = Usage(20_000, 9_000, 15_000, 8_000)
    meter = meter_of(TextDelta("a"), told, Finish("stop"))
    assert meter.usage == Usage(10_000, 5_000, 10_000, 5_000)
    assert meter.cost == 10_000 * 1_000 + 5_000 * 2_000


def test_an_estimate_is_under_the_bound_too() -> None:
    assert meter_of(TextDelta("no " * 20_000)).usage.output_tokens == 5_000


TEXTS = st.text() | st.text(") a\n1,。中B-é")


@given(deltas=st.lists(TEXTS, max_size=8), asked=st.booleans())
def test_the_bill_does_not_depend_on_how_often_it_was_saved(deltas: list[str], asked: bool) -> None:
    meter = meter_of()
    for delta in deltas:
        meter.take([TextDelta(delta)])
        if asked:
            assert meter.cost >= 0
    assert meter.usage == meter_of(*map(TextDelta, deltas)).usage


@pytest.mark.parametrize("wide", ["a", "é", "中", "😀", "\x00"])
def test_a_delta_has_no_more_tokens_than_bytes(wide: str) -> None:
    assert estimate_text(wide * 300) <= len((wide * 300).encode())


def test_cached_input_is_billed_at_its_own_price() -> None:
    told = (TextDelta("a"), Usage(900, 10, 800), Finish("stop"))
    meter = meter_of(*told, price=CACHED)
    assert meter.usage.cached_tokens == 800
    assert meter.cost == 100 * 1_000 + 800 * 100 + 10 * 2_000
    assert meter_of(*told).cost == 920_000


def test_what_is_told_of_a_cache_counts_for_an_interrupted_answer_too() -> None:
    meter = meter_of(Usage(900, 0, 800), TextDelta("a"), price=CACHED)
    assert meter.usage.cached_tokens == 800
    assert meter.cost == 100 * 1_000 + 800 * 100 + meter.usage.output_tokens * 2_000


def test_no_more_is_billed_as_cached_than_was_read() -> None:
    meter = meter_of(TextDelta("a"), Usage(900, 10, 5_000), Finish("stop"), price=CACHED)
    assert meter.usage.cached_tokens == 900
    assert meter.cost == 900 * 100 + 10 * 2_000
