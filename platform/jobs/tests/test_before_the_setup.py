"""A worker that is started before its database is set up waits for that, in few lines."""

import asyncio

import pytest

from common.database import get_database
from jobs import host

pytestmark = pytest.mark.usefixtures("committed")


def test_a_look_into_a_database_that_is_not_set_up_is_a_line_and_a_longer_pause(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(host, "NOT_SET_UP_SECONDS", 0.2)
    looks = 0

    async def look() -> None:
        nonlocal looks
        looks += 1
        await get_database().rows("SELECT 1 FROM a_table_of_a_later_release")

    async def look_for_a_while() -> None:
        try:
            await asyncio.wait_for(host._repeat(look, 0.001), timeout=0.7)
        except TimeoutError:
            await get_database().close()

    asyncio.run(look_for_a_while())
    assert 1 <= looks <= 5
    lines = [record for record in caplog.records if "database_not_set_up" in record.getMessage()]
    assert len(lines) == looks
    assert not any(record.exc_info for record in caplog.records)
