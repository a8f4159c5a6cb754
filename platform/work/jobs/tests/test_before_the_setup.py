"""A worker that is started before its database is set up waits for that, in few lines."""

import asyncio
import time

import pytest

from common.database import get_database
from work.jobs import executor

pytestmark = pytest.mark.usefixtures("committed")


def test_a_look_into_a_database_that_is_not_set_up_is_a_line_and_a_longer_pause(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executor, "NOT_SET_UP_SECONDS", 0.2)
    looks = 0

    async def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 4:
            raise asyncio.CancelledError  # the end of the process
        await get_database().rows("SELECT 1 FROM a_table_of_a_later_release")

    async def look_until_the_end() -> float:
        began_at = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await executor._repeat(look, 0.001)
        await get_database().close()
        return time.monotonic() - began_at

    assert asyncio.run(look_until_the_end()) >= 3 * 0.2
    lines = [record for record in caplog.records if "database_not_set_up" in record.getMessage()]
    assert len(lines) == 3
    assert not any(record.exc_info for record in caplog.records)
