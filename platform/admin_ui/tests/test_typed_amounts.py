"""What an operator types as an amount."""

import time

import pytest
from django.core.exceptions import ValidationError

from admin_ui.money import UsdField


@pytest.mark.parametrize(
    ("typed", "nusd"),
    [("12.50", 12_500_000_000), ("7", 7_000_000_000), ("7.", 7_000_000_000), (".5", 500_000_000)],
)
def test_an_amount_may_have_decimals(typed: str, nusd: int) -> None:
    assert UsdField().clean(typed) == nusd


@pytest.mark.parametrize("typed", ["ten", "1.2.3", "1_5", "1e5", "٣", "0" * 20_000 + "x"])
def test_a_text_that_is_no_amount_is_refused_at_once(typed: str) -> None:
    began = time.process_time()
    with pytest.raises(ValidationError, match=r"Write an amount like 12\.50\."):
        UsdField().clean(typed)
    assert time.process_time() - began < 0.5
