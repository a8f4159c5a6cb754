"""The suite itself: what a failed assert of a helper says, and the list of the slow files, and
what the garbage collector looks at."""

import gc
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from devserver.paths import ROOT
from devserver.pytest_clock import SLOW_SECONDS, updated_slow_files
from devserver.pytest_suite import helper_packages, is_rolled_back, slow_files
from tests.follow import cut


def test_a_failed_assert_of_a_helper_says_what_it_compared() -> None:
    with pytest.raises(AssertionError, match="'no list'"):
        cut("no list")


@pytest.mark.parametrize("package", helper_packages())
def test_every_helper_has_its_asserts_rewritten(package: str) -> None:
    folder = find_spec(package)
    assert folder is not None
    assert folder.submodule_search_locations
    names = [path.stem for path in Path(folder.submodule_search_locations[0]).glob("*.py")]
    specs = {name: find_spec(f"{package}.{name}") for name in names}
    assert [
        name
        for name, spec in specs.items()
        if spec is None or not isinstance(spec.loader, AssertionRewritingHook)
    ] == []


def test_the_slow_files_are_there() -> None:
    assert slow_files()
    assert [path for path in slow_files() if not (ROOT / path).exists()] == []


def test_a_run_of_some_files_leaves_the_others_in_the_list() -> None:
    path = next(iter(slow_files()))

    lines = updated_slow_files({"tests/test_suite.py": 7.6, path: SLOW_SECONDS - 1}).splitlines()

    assert "    8 tests/test_suite.py" in lines
    listed = {line.split()[1] for line in lines}
    assert listed == slow_files().keys() - {path} | {"tests/test_suite.py"}


def test_a_test_is_repeated(tmp_path: Path) -> None:
    done = run_suite(tmp_path, "def test_it() -> None: pass", "--times", "3")
    assert "3 passed" in done.stdout


def test_two_tests_with_one_id_are_refused(tmp_path: Path) -> None:
    """One of them would not run, and nobody would notice."""
    tests = """
        def test_it() -> None: pass

        def pytest_collection_modifyitems(items):
            items.append(items[0])
    """
    done = run_suite(tmp_path, tests, "-p", "test_it")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "2 tests have the id test_it.py::test_it" in done.stderr


def run_suite(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """pytest with the plugins of the suite, for a file of its own."""
    (folder / "test_it.py").write_text(dedent(tests))
    (folder / "pytest.ini").touch()
    plugins = ("-p", "devserver.pytest_suite", "-p", "devserver.pytest_clock")
    return subprocess.run(
        (sys.executable, "-m", "pytest", *plugins, *options),
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )


def test_what_is_rolled_back_comes_first(request: pytest.FixtureRequest) -> None:
    """Other tests leave rows behind, which it would find."""
    order = [is_rolled_back(item) for item in request.session.items]
    assert order == sorted(order, reverse=True)


def test_the_garbage_collector_runs_but_not_through_the_tests(
    request: pytest.FixtureRequest,
) -> None:
    assert gc.isenabled()
    assert not any(found is request.node for found in gc.get_objects())
