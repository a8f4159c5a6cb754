"""Where the clients are installed (`make clients`), and what their programs find around them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from devserver.paths import ROOT
from devserver.throwaway import MARK
from publicapi.tests.v1.customer import Customer

PROGRAMS = ROOT / "tests" / "clients"
PYTHON_ENVIRONMENTS = ROOT / "var" / "clients"


def python_client(folder: str, name: str) -> pytest.MarkDecorator:
    """Skips, by the client's name, where it is not installed."""
    return _required(PYTHON_ENVIRONMENTS / folder / "installed", name)


def node_client(folder: str, name: str) -> pytest.MarkDecorator:
    """The same for a client in Node."""
    if shutil.which("node") is None:
        return pytest.mark.skip(reason=f"{name} needs Node, which is not installed.")
    return _required(PROGRAMS / folder / "node_modules" / ".package-lock.json", name)


def executable(folder: str, name: str) -> Path:
    """A command that a Python client brings, or its `python`."""
    return PYTHON_ENVIRONMENTS / folder / "bin" / name


def surroundings(home: Path) -> dict[str, str]:
    """What every program finds, with the mark by which it ends with the test run. Nothing of ours
    is on its path: it is a stranger's program."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), MARK: os.environ[MARK]}


def environment(customer: Customer, *, home: Path) -> dict[str, str]:
    """The same with the address of `/v1` and a key."""
    access = {"BASE_URL": f"{customer.web.url}/v1", "API_KEY": customer.raw_key}
    return surroundings(home) | access


def finished(
    *command: str | Path, folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A program that has ended. It starts in that folder, which is its home too."""
    return subprocess.run(
        command,
        cwd=folder,
        env=surroundings(folder) | variables,
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )


def output_of(*command: str | Path, folder: Path, **variables: str) -> str:
    """All that a program says which succeeds."""
    done = finished(*command, folder=folder, **variables)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def _required(path: Path, name: str) -> pytest.MarkDecorator:
    reason = f"{name} is not installed: run `make clients`."
    return pytest.mark.skipif(not path.exists(), reason=reason)
