"""The typed client that openapi-python-client makes of what `/openapi.json` serves, and a day with
it."""

import shutil
from pathlib import Path

import pytest

from apidocs.openapi.document import document
from tests.clients import days
from tests.clients.environments import PROGRAMS, executable, output_of, python_client
from tests.service import Web
from tests.worker import Worker

CLIENT = "openapi_python"
PYTHON = executable(CLIENT, "python")

pytestmark = python_client(CLIENT, "openapi-python-client")


@pytest.fixture(scope="module")
def folder(developers_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client, made without a warning, and the program that uses it."""
    folder = tmp_path_factory.mktemp(CLIENT)
    for name in ("client.yaml", "day.py"):
        shutil.copy(PROGRAMS / CLIENT / name, folder)
    said = days.generate(0, web=developers_web, commands=PYTHON.parent, folder=folder)
    assert said == "Generating platform_client\n"
    return folder


def test_it_has_a_function_for_every_operation(folder: Path) -> None:
    operations = [each for path in document()["paths"].values() for each in path]
    functions = (folder / "platform_client" / "api").glob("*/[!_]*.py")
    assert len(list(functions)) == len(operations)


def test_it_is_of_sound_types_and_so_is_its_use(folder: Path) -> None:
    mypy = executable(CLIENT, "mypy")
    said = output_of(mypy, "--strict", "day.py", "platform_client", folder=folder)
    assert said.startswith("Success: no issues found")


def test_a_day_is_had_with_it(
    folder: Path, developers_web: Web, worker: Worker, published: str, committed: None
) -> None:
    day = days.run(PYTHON, "day.py", web=developers_web, folder=folder)

    days.assert_it_was_had(day)
    assert published in day.printed
