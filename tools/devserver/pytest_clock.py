"""Pytest plugin: how long a run still takes, which files took longest, and whether the list of slow
files (`devserver.pytest_suite`) is right.

Loaded by `-p` in pytest.ini, and at work where the whole run is seen: not in xdist's workers.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable

import pytest

from devserver.paths import ROOT
from devserver.pytest_suite import SLOW_FILES, path_of_test, slow_files

# A file that takes less than this in all has no place in the list. What is left makes `make quick`,
# two minutes at most.
SLOW_SECONDS = 4.0
# One that takes longer than this and is not listed starts too late: all others wait for it.
UNLISTED_SECONDS = 30.0
# What a file takes that is not listed.
_USUAL_SECONDS = 0.8
_SAY_SECONDS = 15.0
_LONGEST = 5
NOTE = "--note-slow-files"
CHECK = "--check-slow-files"


def pytest_addoption(parser: pytest.Parser) -> None:
    name = SLOW_FILES.name
    parser.addoption(NOTE, action="store_true", help=f"write {name} after the run")
    parser.addoption(CHECK, action="store_true", help=f"fail where {name} lacks a very slow file")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(RunTimes(config), "run_times")


class RunTimes:
    """The seconds of each file of a run, and the estimate of those that are left."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: defaultdict[str, float] = defaultdict(float)
        # What each test of a file takes of the seconds that the file is known to take.
        self._share: dict[str, float] = {}
        self._done = self._all = 0.0
        self._began = self._said = 0.0
        self._workers: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        self._expect(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        worker = getattr(report, "worker_id", "")
        if worker not in self._workers:  # its first test waits for the database of all its tests
            self._workers.add(worker)
            return
        self._seconds[path_of_test(report.nodeid)] += report.duration

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        if not self._began:  # the first test has waited for what all of them need
            self._began = self._said = time.monotonic()
            return
        self._done += self._share[path_of_test(nodeid)]
        if time.monotonic() - self._said < _SAY_SECONDS:
            return
        self._said = time.monotonic()
        if reporter := self._config.pluginmanager.get_plugin("terminalreporter"):
            left = (self._all - self._done) * (self._said - self._began) / self._done
            reporter.ensure_newline()
            reporter.write_line(f"about {left // 60:.0f} min {left % 60:02.0f} s left")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._config.getoption(NOTE):
            SLOW_FILES.write_text(updated_slow_files(self._seconds))
        if self._config.getoption(CHECK) and self._unupdated_slow_files():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        longest = sorted(self._seconds.items(), key=lambda each: -each[1])[:_LONGEST]
        if len(self._seconds) > _LONGEST:
            terminalreporter.section("files that took longest")
            for path, seconds in longest:
                terminalreporter.write_line(f"{seconds:5.0f} s  {path}")
        if self._config.getoption(CHECK):
            for path in self._unupdated_slow_files():
                terminalreporter.write_line(
                    f"{path} is not in {SLOW_FILES.name}: run `make test ARGS={NOTE}`, or with"
                    " `drills`, and commit the list."
                )

    def _expect(self, ids: Iterable[str]) -> None:
        known = slow_files()
        tests = Counter(path_of_test(each) for each in ids)
        self._share = {file: known.get(file, _USUAL_SECONDS) / n for file, n in tests.items()}
        self._all = sum(known.get(file, _USUAL_SECONDS) for file in tests)

    def _unupdated_slow_files(self) -> list[str]:
        found = (path for path, seconds in self._seconds.items() if seconds > UNLISTED_SECONDS)
        return sorted(path for path in found if path not in slow_files())


def updated_slow_files(seconds: dict[str, float]) -> str:
    """The list of slow files after a run that took these: files that did not run stay as they
    were."""
    others = {path: known for path, known in slow_files().items() if (ROOT / path).exists()}
    slow = {path: sum_ for path, sum_ in {**others, **seconds}.items() if sum_ >= SLOW_SECONDS}
    lines = sorted(slow.items(), key=lambda each: (-each[1], each[0]))
    return "".join(f"{sum_:5.0f} {path}\n" for path, sum_ in lines)
