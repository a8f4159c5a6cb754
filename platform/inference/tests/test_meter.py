"""What is billed of an answer, with and without the provider's own count."""

from dataclasses import replace

from catalog.types import TokenPrice
from inference.meter import Meter
from providers.types import ChatEvent, Finish, TextDelta, Usage

PRICE = TokenPrice(version_id=1, input=1_000_000, output=2_000_000, fee=0)
CACHED = replace(PRICE, cached_input=100_000)


def meter_of(*events: ChatEvent, streamed: bool = True, price: TokenPrice = PRICE) -> Meter:
    meter = Meter(price, 7, input_bound=1_000, output_bound=100, streamed=streamed)
    meter.take(list(events))
    return meter


def test_the_provider_s_count_wins() -> None:
    assert meter_of(TextDelta("a"), Usage(3, 5), Finish("stop")).usage == Usage(3, 5)


def test_a_count_of_nothing_is_believed_and_noticed() -> None:
    meter = meter_of(TextDelta("a"), Usage(3, 0), Finish("stop"))
    assert meter.usage == Usage(3, 0)
    assert meter.counts_nothing


def test_a_stream_without_count_is_billed_by_its_deltas() -> None:
    assert meter_of(TextDelta("a" * 400), TextDelta("b"), Finish("stop")).usage == Usage(7, 2)


def test_a_whole_answer_without_count_is_billed_by_its_length() -> None:
    meter = meter_of(TextDelta("a" * 80), Finish("stop"), streamed=False)
    assert meter.usage == Usage(7, 20)


def test_a_short_answer_is_a_token_at_least() -> None:
    assert meter_of(TextDelta("a"), Finish("stop"), streamed=False).usage.output_tokens == 1


def test_a_broken_answer_is_billed_as_far_as_it_was_counted() -> None:
    assert meter_of(Usage(3, 50), TextDelta("a")).usage == Usage(3, 50)


def test_deltas_after_the_last_count_of_an_interrupted_answer_are_counted_here() -> None:
    assert meter_of(Usage(3, 1), TextDelta("a"), TextDelta("b")).usage == Usage(3, 2)


def test_nothing_beyond_the_bounds_is_billed() -> None:
    meter = meter_of(TextDelta("a"), Usage(2_000, 200, 1_500, 150), Finish("stop"))
    assert meter.usage == Usage(1_000, 100, 1_000, 100)
    assert meter.cost == 1_000 * 1_000 + 100 * 2_000


def test_cached_input_is_billed_at_its_own_price() -> None:
    meter = meter_of(TextDelta("a"), Usage(900, 10, 800), Finish("stop"), price=CACHED)
    assert meter.usage.cached_tokens == 800
    assert meter.cost == 100 * 1_000 + 800 * 100 + 10 * 2_000
    assert meter_of(TextDelta("a"), Usage(900, 10, 800), Finish("stop")).cost == 920_000


def test_what_is_told_of_a_cache_counts_for_an_interrupted_answer_too() -> None:
    meter = meter_of(Usage(900, 0, 800), TextDelta("a"), price=CACHED)
    assert meter.usage.cached_tokens == 800
    assert meter.cost == 100 * 1_000 + 800 * 100 + meter.usage.output_tokens * 2_000


def test_no_more_is_billed_as_cached_than_was_read() -> None:
    meter = meter_of(TextDelta("a"), Usage(900, 10, 5_000), Finish("stop"), price=CACHED)
    assert meter.cost == 900 * 100 + 10 * 2_000
