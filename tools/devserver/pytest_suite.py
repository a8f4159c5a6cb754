"""Pytest plugin: the asserts of helpers speak, the slowest files come first, `--quick` leaves them
out, `--times` repeats each test, and no garbage is looked for while tests are collected.

Loaded by `-p` in pytest.ini: Django imports helpers (the jobs of `work.jobs.tests`) before any
conftest.py, and an assert is rewritten only if it is asked for before its module is imported.
"""

import gc
from collections import Counter
from collections.abc import Generator
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from devserver.paths import ROOT

# Seconds and path of each slow file, as `devserver.pytest_clock` writes them.
SLOW_FILES = ROOT / "tests" / "slow_files.txt"


def helper_packages() -> list[str]:
    """The import names of all packages called `tests`, which stand for their modules too."""
    patterns = ("tests", "*/tests", "platform/**/tests", "tools/**/tests")
    tests = [folder for pattern in patterns for folder in ROOT.glob(pattern)]
    names = [
        folder.relative_to(ROOT).parts for folder in tests if (folder / "__init__.py").exists()
    ]
    return [".".join(name[name[0] in ("platform", "tools") :]) for name in names]


pytest.register_assert_rewrite(*helper_packages())


@cache
def slow_files() -> dict[str, float]:
    """The seconds of each slow file, by its path from the root."""
    lines = (line.split() for line in SLOW_FILES.read_text().splitlines())
    return {path: float(seconds) for seconds, path in lines}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out the slow files")
    parser.addoption("--times", type=int, default=1, help="run each test so many times")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if (times := metafunc.config.getoption("--times")) > 1:
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(1, times + 1), indirect=True)


@pytest.fixture
def repetition(request: pytest.FixtureRequest) -> int:
    """The number of this run of the test (`--times`)."""
    return int(request.param)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`--quick` does not even import the slow files. (None lets others decide.)"""
    if not config.getoption("--quick"):
        return None
    return collection_path in {ROOT / path for path in slow_files()} or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from the tests: each worker collects all of them, they stay
    to its end, and the collector would go through them again and again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by the seconds of the file: a slow file that starts last would be waited for alone.

    What runs in a transaction that is rolled back comes before everything else, as pytest-django
    wants it: other tests leave rows behind. The sort is stable: the files that are not slow, and
    the tests of a file, stay shuffled. Raises UsageError where two tests have the same id: xdist
    would run one of them.
    """
    ids = Counter(item.nodeid for item in items)
    if items and (most := ids.most_common(1)[0])[1] > 1:
        raise pytest.UsageError(f"{most[1]} tests have the id {most[0]}: give each one of its own.")
    seconds = slow_files()
    places: dict[str, int] = {}
    for item in items:
        places.setdefault(path_of_test(item.nodeid), len(places))

    def order(item: pytest.Item) -> tuple[bool, float, int]:
        file = path_of_test(item.nodeid)
        return not is_rolled_back(item), -seconds.get(file, 0), places[file]

    items.sort(key=order)


def is_rolled_back(item: pytest.Item) -> bool:
    wants_database = item.get_closest_marker("django_db") is not None
    return wants_database or "db" in getattr(item, "fixturenames", ())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """`--dist loadfile` keeps that order."""
    return _InOrder(config, log) if config.getoption("dist") == "loadfile" else None


class _InOrder(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out tests of one file that follow each other together, in the order they stand in.

    (xdist's own scheduler begins with the files of the most tests, and it would run what is rolled
    back together with what is not.)
    """

    def schedule(self) -> None:
        if self.collection is None:
            self.config.option.loadscopereorder = False
            tests = next(iter(self.registered_collections.values()))
            self._runs = {
                test: f"{number} {file}"
                for number, (file, run) in enumerate(groupby(tests, path_of_test))
                for test in run
            }
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._runs[nodeid]


def path_of_test(node_id: str) -> str:
    """The path of a test's file, from the root."""
    return node_id.partition("::")[0]
