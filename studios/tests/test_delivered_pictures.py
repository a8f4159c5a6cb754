"""Pictures come with the answer to the order, and cannot be fetched again: they are stored although
the storage is away for a moment."""

import asyncio
import threading
from pathlib import Path
from typing import IO, Any

import pytest
from django.core.files.storage import FileSystemStorage
from pytest_django import Settings

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.operations.types import Fetched, Unusable
from ai.providers.operations import Delivered, Unknown
from ai.providers.types import Image
from common.database import get_database
from common.errors import ServiceUnavailable
from common.ids import uuid7
from media.probe.tests.samples import picture
from studios import handlers
from studios.calls import Order, Terms, call_of
from studios.handlers import ImageHandler
from studios.types import Kind
from tests.personas import new_user

MODEL = "gpt-image-2.5-flare"


@pytest.fixture
def alice(committed: None) -> User:
    return new_user("alice")


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    """The folder of outputs: there is a file in its place."""
    folder = tmp_path / "outputs"
    folder.write_text("This is no folder.")
    storages = {**settings.STORAGES}
    storages["outputs"] = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": folder},
    }
    settings.STORAGES = storages
    return folder


class LeavingStorage(FileSystemStorage):
    """It is away after a picture and its thumbnail are stored."""

    def save(self, name: str | None, content: IO[Any], max_length: int | None = None) -> str:
        if len([*Path(self.location).glob("*/*.*")]) == 2:
            raise OSError("The storage is away.")
        return super().save(name, content, max_length)


def deliver(account: User, *pictures: bytes) -> Fetched | Unusable | Unknown:
    """What becomes of pictures that a provider has delivered."""
    model = get_catalog().models[MODEL]
    order = Order(
        model=MODEL,
        provider=model.provider,
        upstream_model=model.upstream_model,
        prompt="A lighthouse.",
        params={},
        terms=Terms("images", len(pictures), 1, 1),
    )
    call = call_of(Kind.IMAGE, request_id="order", account_id=account.pk, model=model, order=order)
    delivered = Delivered(tuple(Image(data, "image/png") for data in pictures))

    async def fetch() -> Fetched | Unusable | Unknown:
        try:
            return await ImageHandler().fetch(uuid7(), call, delivered)
        finally:
            await get_database().close()

    return asyncio.run(fetch())


def test_they_are_stored_once_the_storage_is_back(alice: User, folder: Path) -> None:
    threading.Timer(0.5, folder.unlink).start()

    outcome = deliver(alice, picture("PNG"), picture("PNG"))

    assert isinstance(outcome, Fetched)
    assert len(outcome.outputs.files) == 2


def test_what_is_stored_is_delivered_where_the_storage_goes_away_after_it(
    alice: User, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "STORE_PAUSES", (0.1,))
    settings.STORAGES = {
        **settings.STORAGES,
        "outputs": {
            "BACKEND": f"{__name__}.LeavingStorage",
            "OPTIONS": {"location": tmp_path / "outputs"},
        },
    }

    outcome = deliver(alice, picture("PNG"), picture("PNG"))

    assert isinstance(outcome, Fetched)
    assert len(outcome.outputs.files) == 1


def test_a_storage_that_stays_away_is_our_fault(
    alice: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "STORE_PAUSES", (0.1,))

    with pytest.raises(ServiceUnavailable):
        deliver(alice, picture("PNG"))


def test_pictures_that_cannot_be_used_are_left_out(alice: User, folder: Path) -> None:
    folder.unlink()

    outcome = deliver(alice, b"no picture", picture("PNG"))

    assert isinstance(outcome, Fetched)
    assert len(outcome.outputs.files) == 1
    assert isinstance(deliver(alice, b"no picture"), Unusable)
