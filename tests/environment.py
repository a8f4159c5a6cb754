"""What a program that a test starts finds in its environment, unless the test says more."""

import os

from devserver.paths import PYTHONPATH
from devserver.throwaway import MARK


def inherited() -> dict[str, str]:
    """The paths, and the mark by which it ends with the test run, however that ends."""
    names = ("PATH", MARK)
    return {"PYTHONPATH": PYTHONPATH, **{name: os.environ[name] for name in names}}
