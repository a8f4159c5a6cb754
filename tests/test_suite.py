"""The suite itself: what a failed assert of a helper says, and the list of the slow files, and
what the garbage collector looks at."""

import gc
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from local.paths import ROOT
from local.pytest_clock import SLOW_SECONDS, updated_slow_files
from local.pytest_suite import helper_packages, is_rolled_back, slow_files
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
    assert not any(line.endswith(path) for line in lines)
    assert len(lines) == len(slow_files())


def test_a_test_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it() -> None: pass")
    (tmp_path / "pytest.ini").touch()
    options = ("-p", "local.pytest_suite", "-p", "local.pytest_clock", "--times", "3")

    done = subprocess.run(
        (sys.executable, "-m", "pytest", *options),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "3 passed" in done.stdout


def test_what_is_rolled_back_comes_first(request: pytest.FixtureRequest) -> None:
    """Other tests leave rows behind, which it would find."""
    order = [is_rolled_back(item) for item in request.session.items]
    assert order == sorted(order, reverse=True)


def test_the_garbage_collector_runs_but_not_through_the_tests(
    request: pytest.FixtureRequest,
) -> None:
    assert gc.isenabled()
    assert not any(found is request.node for found in gc.get_objects())
