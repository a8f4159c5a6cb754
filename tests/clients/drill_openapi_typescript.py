"""The types that openapi-typescript makes of what `/openapi.json` serves, and a day with them and
openapi-fetch."""

import shutil
from pathlib import Path

import pytest

from apidocs.openapi.document import document
from tests.clients import days
from tests.clients.environments import PROGRAMS, node_client, output_of
from tests.service import Web
from tests.worker import Worker

FOLDER = PROGRAMS / "openapi_typescript"
MODULES = FOLDER / "node_modules"
COMMANDS = MODULES / ".bin"

pytestmark = node_client(FOLDER.name, "openapi-typescript")


@pytest.fixture(scope="module")
def folder(developers_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The types, made without a warning."""
    folder = tmp_path_factory.mktemp(FOLDER.name)
    said = days.generate(1, web=developers_web, commands=COMMANDS, folder=folder)
    assert "warn" not in said.lower()
    return folder


@pytest.fixture(scope="module")
def program(folder: Path) -> Path:
    """The program that uses them, compiled without a complaint."""
    for name in ("day.ts", "package.json", "tsconfig.json"):
        shutil.copy(FOLDER / name, folder)
    (folder / "node_modules").symlink_to(MODULES)
    assert output_of(COMMANDS / "tsc", "--project", ".", folder=folder) == ""
    return folder / "day.js"


def test_they_have_every_operation(folder: Path) -> None:
    paths = document()["paths"].values()
    operations = [each["operationId"] for path in paths for each in path.values()]
    types = (folder / "schema.d.ts").read_text()
    assert [each for each in operations if types.count(f'operations["{each}"];') != 1] == []


def test_a_day_is_had_with_them(
    program: Path, developers_web: Web, worker: Worker, published: str, committed: None
) -> None:
    day = days.run("node", program, web=developers_web, folder=program.parent)

    days.assert_it_was_had(day)
    assert published in day.printed
