"""Money before people's eyes."""

import pytest

from common.money import usd_text


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
