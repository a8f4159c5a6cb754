"""Moments as the interfaces write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from common.times import ISO_UTC, iso_utc


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 11, 21, 17, 5, 39, tzinfo=UTC),
        datetime(2026, 11, 21, 17, 5, 39, 123_456, tzinfo=UTC),
        datetime(2026, 11, 21, 17, 5, 39, tzinfo=timezone(timedelta(hours=-5))),
    ],
)
def test_a_moment_is_written_as_rest_framework_writes_it(moment: datetime) -> None:
    assert iso_utc(moment) == moment.astimezone(UTC).strftime(ISO_UTC)
