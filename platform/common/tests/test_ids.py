"""Identifiers that sort by time."""

from datetime import UTC, datetime, timedelta
from uuid import RFC_4122

from common.ids import unix_seconds, uuid7

PAST = datetime(2026, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)


def test_it_is_a_uuid_of_version_7_made_now() -> None:
    before = datetime.now(UTC)
    made = uuid7()
    assert (made.version, made.variant) == (7, RFC_4122)
    assert abs(unix_seconds(made) - before.timestamp()) < 60


def test_one_of_another_moment_sorts_by_that_moment() -> None:
    ids = [uuid7(PAST), uuid7(PAST + timedelta(milliseconds=5)), uuid7()]
    assert ids == sorted(ids)
    assert unix_seconds(ids[0]) == int(PAST.timestamp())


def test_those_made_one_after_the_other_sort_in_that_order() -> None:
    """Within a millisecond too."""
    ids = [uuid7() for _ in range(1_000)]
    assert ids == sorted(ids)


def test_two_of_the_same_moment_differ() -> None:
    assert uuid7(PAST) != uuid7(PAST)
