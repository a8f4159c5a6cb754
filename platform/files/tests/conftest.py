"""A picture that was stored for somebody."""

import asyncio
from collections.abc import Callable
from uuid import UUID

import pytest

from common.database import get_database
from files.services.outputs import store
from tests.personas import new_user

# Served as it was stored: nobody looks into it here.
PICTURE = b"\x89PNG\r\n\x1a\n and all that follows"

Keep = Callable[..., str]


@pytest.fixture
def keep(committed: None) -> Keep:
    """Stores a picture of somebody's, and gives its name; keywords as in `store`."""

    def keep(**options: object) -> str:
        file = {"data": PICTURE, "media_type": "image/png", "keep_seconds": 3600, **options}
        return asyncio.run(stored(new_user("alice").pk, file))

    async def stored(account_id: UUID, file: dict[str, object]) -> str:
        try:
            return await store(account_id=account_id, **file)  # type: ignore[arg-type]
        finally:
            await get_database().close()

    return keep
