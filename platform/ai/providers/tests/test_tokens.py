"""Counting tokens without a tokenizer."""

from hypothesis import given
from hypothesis import strategies as st

from ai.providers.tokens import estimate_input, input_upper_bound
from ai.providers.types import Message

MESSAGES = st.lists(st.builds(Message, st.just("user"), st.text()))


def test_the_bound_counts_bytes_envelopes_and_overhead() -> None:
    messages = [Message("system", "abc"), Message("user", "é😀")]
    assert input_upper_bound(messages, 64) == 3 + 6 + 2 * 16 + 64


def test_the_bound_does_not_end_at_a_context_window_that_the_provider_may_exceed() -> None:
    assert input_upper_bound([Message("user", "x" * 10_000)], 64) == 10_000 + 16 + 64


def test_half_a_surrogate_pair_is_counted_and_not_an_error() -> None:
    assert input_upper_bound([Message("user", "\ud800")], 0) == 3 + 16


@given(MESSAGES)
def test_the_estimate_is_positive_and_under_the_bound(messages: list[Message]) -> None:
    assert 1 <= estimate_input(messages) <= input_upper_bound(messages, 64)
