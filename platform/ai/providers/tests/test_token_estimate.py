"""The estimate of the tokens of a text; tools/bench/estimates.py measures its error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.providers.token_estimate import GrowingText, estimate_text


# The tokens are those of `o200k_base`.
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("All human beings are born free and equal in dignity and rights.", 13),
        ("Alle Menschen sind frei und gleich an Würde und Rechten geboren.", 14),
        (
            "Все люди рождаются свободными и равными в своем достоинстве и правах.",  # noqa: RUF001
            17,
        ),
        ("人人生而自由,在尊严和权利上一律平等。", 16),
        ("يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.", 17),
        ("सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।", 22),
        ("def mean(values):\n    return sum(values) / len(values)\n", 13),
    ],
)
def test_the_estimate_is_near_the_count_in_each_script_and_in_code(text: str, tokens: int) -> None:
    assert estimate_text(text) == pytest.approx(tokens, rel=0.3)


@given(st.text())
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    assert 1 <= estimate_text(text) <= max(1, len(text.encode()))


def test_half_a_surrogate_pair_is_a_token_and_not_an_error() -> None:
    assert estimate_text("\ud800") == 1


def test_a_line_that_is_drawn_is_not_a_token_for_each_stroke() -> None:
    assert estimate_text("-" * 80) < 5


@given(st.lists(st.text(") a\n1,。中B-é", min_size=1) | st.text(min_size=1), max_size=6))
def test_a_growing_text_is_estimated_as_the_whole_is_whatever_was_asked_before(
    deltas: list[str],
) -> None:
    growing = GrowingText()
    for delta in deltas:
        growing.add(delta)
        assert growing.tokens >= growing.deltas
    if deltas:
        assert growing.tokens == max(len(deltas), estimate_text("".join(deltas)))
