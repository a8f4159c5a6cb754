"""Where the clients are installed (`make clients`), and what their programs find around them."""

import os
import shutil
from pathlib import Path

import pytest

from local.paths import ROOT
from local.throwaway import MARK
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


def environment(customer: Customer, *, home: Path) -> dict[str, str]:
    """The address and the key, and the mark by which a program ends with the test run. Nothing of
    ours is on its path: it is a stranger's program."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        MARK: os.environ[MARK],
        "BASE_URL": f"{customer.web.url}/v1",
        "API_KEY": customer.raw_key,
    }


def _required(path: Path, name: str) -> pytest.MarkDecorator:
    reason = f"{name} is not installed: run `make clients`."
    return pytest.mark.skipif(not path.exists(), reason=reason)
