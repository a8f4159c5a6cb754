"""Exports as a user sees them, and what is in their files."""

import io
import json
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any
from zipfile import ZipFile

import httpx

from accounts.models import User
from privacy.archive import Archive
from tests.personas import authorization
from tests.service import Web
from work.jobs.tests.queueing import wait_until

PATH = "/api/users/me/export"


def archive_of(user: User, go_on: Callable[[], bool] = lambda: True) -> ZipFile:
    """An export, made in this process."""
    with TemporaryFile() as file:
        Archive(user, file, go_on).write()
        file.seek(0)
        return ZipFile(io.BytesIO(file.read()))


def rows_in(archive: ZipFile, model: str) -> list[dict[str, Any]]:
    """The rows of a model, such as `conversations.message`."""
    return [json.loads(line) for line in archive.read(f"data/{model}.jsonl").splitlines()]


def ask(web: Web, user: User) -> dict[str, Any]:
    """Ask for an export."""
    response = httpx.post(f"{web.url}{PATH}", headers=authorization(user))
    assert response.status_code == 202, response.text
    return response.json()  # type: ignore[no-any-return]


def latest(web: Web, user: User) -> dict[str, Any]:
    return httpx.get(f"{web.url}{PATH}", headers=authorization(user)).json()  # type: ignore[no-any-return]


def wait_for_end(web: Web, user: User) -> dict[str, Any]:
    """The latest export, once it is made or has failed."""

    def ended() -> dict[str, Any] | None:
        export = latest(web, user)
        return export if export["ended_at"] else None

    return wait_until(ended, seconds=30)


def download(export: dict[str, Any]) -> ZipFile:
    return ZipFile(io.BytesIO(httpx.get(export["url"]).content))
