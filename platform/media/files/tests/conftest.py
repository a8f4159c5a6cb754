"""Files that were stored for somebody, in a folder and in a bucket."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from pytest_django import DjangoDbBlocker, Settings

from common.database import get_database
from devserver.ports import free_port
from media.files.services.outputs import store
from media.files.tests.bucket import Bucket, running_bucket
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.service import Web, running_web

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


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with running_bucket() as bucket:
        yield bucket


@pytest.fixture(scope="module")
def bucket_web(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    bucket: Bucket,
) -> Iterator[Web]:
    """A web process whose outputs are in the bucket."""
    with django_db_blocker.unblock(), running_web(simulator, **bucket.environment) as web:
        yield web


@pytest.fixture
def in_bucket(bucket: Bucket, settings: Settings) -> None:
    """Outputs are stored in the bucket."""
    settings.STORAGES = {**django_settings.STORAGES, "outputs": bucket.storage}


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest) -> Any:
    """Where outputs are stored in the tests that use this: first in a folder, then in a bucket."""
    if request.param == "bucket":
        request.getfixturevalue("in_bucket")
    return request.param


@pytest.fixture
def server(request: pytest.FixtureRequest, place: str) -> Web:
    """A web process that serves the outputs of `place`."""
    web: Web = request.getfixturevalue("bucket_web" if place == "bucket" else "web")
    return web


@pytest.fixture
def unreachable(settings: Settings) -> None:
    """Outputs are in a bucket of a service that does not answer."""
    away = Bucket(f"http://127.0.0.1:{free_port()}")
    settings.STORAGES = {**django_settings.STORAGES, "outputs": away.storage}
