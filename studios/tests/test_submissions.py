"""The pictures of an order: only their headers are read when it is prepared, and a worker submits
no more of them at once than its memory holds."""

import asyncio
from collections.abc import Callable, Coroutine
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from pytest_django import Settings

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.operations.handler import FETCH_SECONDS
from common.database import get_database
from common.errors import ServiceUnavailable
from common.ids import uuid7
from media.files.errors import UploadNotFound
from media.files.models import Upload
from media.files.services import uploads
from media.files.types import MAX_PICTURE_BYTES
from studios import provider_orders
from studios.calls import Order, Terms, call_of
from studios.preparation import prepare
from studios.provider_orders import pictures_of
from studios.tests.artist import a_picture
from studios.types import DEADLINES, Kind
from tests.personas import new_user

T = TypeVar("T")

LARGE = a_picture().ljust(MAX_PICTURE_BYTES, b"\0")
SMALL = a_picture()


class CountingReader(BufferedReader):
    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        CountingStorage.read += len(data)
        return data


class CountingStorage(FileSystemStorage):
    """Counts the bytes that are read."""

    read = 0

    def open(self, name: str, mode: str = "rb") -> File[Any]:
        return File(CountingReader(FileIO(self.path(name))))


@pytest.fixture
def alice(committed: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def counted(settings: Settings, tmp_path: Path) -> type[CountingStorage]:
    """The storage of uploads."""
    backend = {"BACKEND": f"{__name__}.CountingStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "uploads": backend}
    CountingStorage.read = 0
    return CountingStorage


def upload(user: User, picture: bytes = SMALL) -> Upload:
    return uploads.store(user=user, name="a.png", file=ContentFile(picture))


def order_with(*references: Upload) -> Order:
    ids = [str(each.pk) for each in references]
    return Order(
        model="flux-2-pro",
        provider="flux",
        upstream_model="flux-2-pro",
        prompt="A lighthouse.",
        params={"references": ids} if ids else {},
        terms=Terms("images", 1, 1, 1),
    )


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def and_close() -> T:
        try:
            return await work()
        finally:
            await get_database().close()

    return asyncio.run(and_close())


@pytest.mark.usefixtures("providers")
def test_an_order_reads_the_headers_of_its_pictures_alone(
    alice: User, counted: type[CountingStorage]
) -> None:
    references = [upload(alice, LARGE) for _ in range(2)]
    counted.read = 0

    placed = prepare(
        user=alice,
        kind=Kind.IMAGE,
        model="flux-2-pro",
        prompt="A lighthouse.",
        values={"references": [str(each.pk) for each in references]},
    )

    assert {each.pk for each in placed.uploads} == {each.pk for each in references}
    assert 0 < counted.read < 4_000


def test_pictures_are_read_once_their_bytes_are_free(
    alice: User, counted: type[CountingStorage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_orders, "_MOST_BYTES", len(SMALL) + 1)
    first, second = upload(alice), upload(alice)
    steps: list[str] = []

    async def submit(
        name: str, picture: Upload, has_begun: asyncio.Event, is_over: asyncio.Event
    ) -> None:
        async with pictures_of(alice.pk, order_with(picture)) as pictures:
            assert [each.data for each in pictures.values()] == [SMALL]
            steps.append(f"{name} begins")
            has_begun.set()
            await is_over.wait()
            steps.append(f"{name} ends")

    async def both() -> None:
        has_begun, is_over = asyncio.Event(), asyncio.Event()
        one = asyncio.create_task(submit("first", first, has_begun, is_over))
        await has_begun.wait()
        other = asyncio.create_task(submit("second", second, has_begun, is_over))
        await asyncio.sleep(0.3)
        # It has looked at the header, and waits.
        assert steps == ["first begins"]
        async with pictures_of(alice.pk, order_with()) as none:
            assert none == {}  # an order without pictures does not wait
        is_over.set()
        await asyncio.gather(one, other)

    run(both)
    assert steps == ["first begins", "first ends", "second begins", "second ends"]


def test_who_waits_too_long_is_turned_away_and_holds_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_orders, "_MOST_BYTES", len(SMALL))
    monkeypatch.setattr(provider_orders, "_WAIT_SECONDS", 0.1)
    picture = upload(alice)

    async def meet() -> None:
        async with pictures_of(alice.pk, order_with(picture)):
            with pytest.raises(ServiceUnavailable):
                async with pictures_of(alice.pk, order_with(picture)):
                    pass
        async with pictures_of(alice.pk, order_with(picture)) as pictures:
            assert len(pictures) == 1

    run(meet)


class ForgetfulStorage(FileSystemStorage):
    """Every file is gone after it was opened once."""

    def open(self, name: str, mode: str = "rb") -> File[Any]:
        file = super().open(name, mode)
        self.delete(name)
        return file


def test_a_picture_that_is_lost_gives_its_bytes_back(
    alice: User, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_orders, "_MOST_BYTES", len(SMALL))
    monkeypatch.setattr(provider_orders, "_WAIT_SECONDS", 0.1)
    kept = upload(alice)
    lasting = settings.STORAGES
    backend = {"BACKEND": f"{__name__}.ForgetfulStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**lasting, "uploads": backend}
    lost = upload(alice)

    async def submit() -> None:
        with pytest.raises(UploadNotFound):
            async with pictures_of(alice.pk, order_with(lost)):
                pass
        settings.STORAGES = lasting
        async with pictures_of(alice.pk, order_with(kept)) as pictures:
            assert len(pictures) == 1

    run(submit)


@pytest.mark.django_db
def test_a_provider_may_take_all_of_the_time_for_pictures_but_what_storing_them_needs() -> None:
    """They come with the answer to the submission: it is the whole of the work."""
    model = get_catalog().models["gpt-image-2.5-flare"]
    order = order_with()
    call = call_of(Kind.IMAGE, request_id="", account_id=uuid7(), model=model, order=order)
    assert call.submission_seconds == DEADLINES[Kind.IMAGE] - FETCH_SECONDS
