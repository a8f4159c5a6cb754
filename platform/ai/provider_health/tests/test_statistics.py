"""Counts and times of calls, in fields that can be added up."""

from collections import Counter
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from ai.provider_health.statistics import fields_of, read

seconds = st.floats(0.02, 900.0)


@given(st.lists(seconds, min_size=1, max_size=200))
def test_a_median_is_known_to_within_an_eighth(times: list[float]) -> None:
    fields = Counter(
        field for each in times for field in fields_of("served", is_failure=False, total=each)
    )
    total = read(fields).total
    assert total is not None
    below = sorted(times)[(len(times) - 1) // 2]
    assert below / 1.19 <= total[0] <= max(median(times), below) * 1.19
    assert total[0] <= total[1] <= max(times) * 1.19


@given(st.floats(0.0, 1e9))
def test_there_are_few_fields_whatever_a_time_is(time: float) -> None:
    [_, field] = fields_of("served", is_failure=False, first=time)
    assert 0 <= int(field.removeprefix("first:")) <= 52


def test_a_share_is_that_of_calls_that_say_something() -> None:
    fields = Counter[str]()
    for code, is_failure, times in (
        ("served", False, 3),
        ("refused", False, 90),
        ("connect", True, 1),
    ):
        for _ in range(times):
            fields.update(fields_of(code, is_failure=is_failure))
    found = read(fields)
    assert (found.calls, found.failed, found.failed_share) == (94, 1, 0.25)
    assert list(found.counts) == ["refused", "served", "connect"]


def test_nothing_has_no_times() -> None:
    nothing = read({})
    assert (nothing.calls, nothing.failed_share, nothing.first) == (0, 0.0, None)
