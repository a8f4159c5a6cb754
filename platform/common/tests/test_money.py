"""Money before people's eyes."""

import pytest

from common.money import exact_nusd, usd_text, whole_cents


@pytest.mark.parametrize(
    ("nusd", "text"),
    [
        (0, "$0.00"),
        (1, "$0.000000001"),
        (12_000_000_000, "$12.00"),
        (1_234_500_000_000, "$1,234.50"),
        (-8_885_200_000, "-$8.8852"),
        (-10_000_000, "-$0.01"),
        (9_223_372_036_854_775_807, "$9,223,372,036.854775807"),
    ],
)
def test_an_amount_is_written_with_every_digit_that_counts(nusd: int, text: str) -> None:
    assert usd_text(nusd) == text


@pytest.mark.parametrize(
    ("amount", "decimals", "nusd"),
    [
        ("12.5", 2, 12_500_000_000),
        (0.01, 2, 10_000_000),
        ("-0.000001", 6, -1_000),
        ("1e-9", 9, 1),
        (" 7 ", 9, 7_000_000_000),
    ],
)
def test_an_amount_is_read_exactly(amount: object, decimals: int, nusd: int) -> None:
    assert exact_nusd(amount, decimals=decimals) == nusd


@pytest.mark.parametrize(
    ("amount", "decimals", "problem"),
    [
        ("0.0000001", 6, "at most 6 decimals"),
        ("1e-10", 9, "at most 9 decimals"),
        ("0.001", 2, "whole cents"),
        ("1e400", 9, "number of US dollars"),
        ("Infinity", 9, "number of US dollars"),
        ("", 9, "number of US dollars"),
        (True, 9, "number of US dollars"),
    ],
)
def test_what_is_finer_or_no_amount_is_refused(amount: object, decimals: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        exact_nusd(amount, decimals=decimals)


def test_cents_are_the_same_with_two_decimals() -> None:
    assert whole_cents("0.29") == exact_nusd("0.29", decimals=2) == 290_000_000
