"""The contract: each promise has tests that are there, each endpoint is promised or listed, and
docs/contract.md says what the files in tests/contract/ say.
"""

import ast
import functools
import re
from collections import Counter

import pytest

from apidocs.openapi.document import document
from config.sockets import _BY_FOLDER, _BY_PATH
from devserver.paths import ROOT
from tests.contract import page
from tests.contract.promises import Promise, Section, additions, sections
from tests.documents import assert_same

SECTIONS = list(sections())
PROMISES = [promise for section in SECTIONS for promise in section.promises]

# A test with one of these marks may not run.
SKIPPING = re.compile(r"\b(skip|skipif|xfail|python_client|node_client)\b")


@functools.cache
def ids_in(file: str) -> frozenset[str]:
    """The ids of the tests in a file that run everywhere."""
    path = ROOT / file
    if not path.is_file() or not path.name.startswith(("test_", "drill_")):
        return frozenset()
    tree = ast.parse(path.read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bodies = [(file, tree.body), *((f"{file}::{each.name}", each.body) for each in classes)]
    return frozenset(
        f"{prefix}::{node.name}"
        for prefix, body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not any(SKIPPING.search(ast.unparse(mark)) for mark in node.decorator_list)
    )


def faults(promise: Promise) -> list[str]:
    """What is missing of the tests of a promise."""
    if not promise.kept_by:
        return [f"no test keeps: {promise.route} {promise.says}"]
    gone = [test for test in promise.kept_by if test not in ids_in(test.partition("::")[0])]
    twice = [test for test, times in Counter(promise.kept_by).items() if times > 1]
    return [f"not there, or skipped: {test}" for test in gone] + [
        f"twice: {test}" for test in twice
    ]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda each: f"{each.chapter}: {each.title}")
def test_every_promise_is_kept_by_tests_that_are_there(section: Section) -> None:
    assert section.promises
    assert [fault for promise in section.promises for fault in faults(promise)] == []


def test_a_promise_without_a_test_and_a_test_that_is_gone_are_found() -> None:
    here = "tests/test_contract.py"
    there = f"{here}::test_no_promise_is_made_twice"
    assert faults(Promise("Yes.", (there,))) == []
    assert len(faults(Promise("Yes.", ()))) == 1
    assert len(faults(Promise("Yes.", (there, there)))) == 1
    gone = (f"{here}::test_nothing", f"{here}::faults", "tests/test_nothing.py::test_x", here)
    assert len(faults(Promise("Yes.", gone))) == 4


def test_no_promise_is_made_twice() -> None:
    routes = Counter(_plain(promise.route) for promise in PROMISES if promise.route)
    assert [route for route, times in routes.items() if times > 1] == []
    for section in SECTIONS:
        said = [(promise.route, promise.says) for promise in section.promises]
        assert len(said) == len(set(said)), section.title


def test_every_endpoint_is_promised_or_listed_beside_the_promises() -> None:
    operations = document()["paths"].items()
    served = [f"{method.upper()} {path}" for path, methods in operations for method in methods]
    served += [f"WS {path}" for path in _BY_PATH] + [f"WS {path}/{{id}}" for path in _BY_FOLDER]
    stated = [promise.route for promise in PROMISES if promise.route]
    stated += [route for routes in additions().values() for route in routes]
    assert_same(map(_plain, stated), map(_plain, served), "tests/contract/")


@pytest.mark.parametrize("name", additions())
def test_what_is_beyond_the_promises_is_described(name: str) -> None:
    described = (ROOT / name).read_text()
    paths = [route.partition(" ")[2] for route in additions()[name]]
    assert [path for path in paths if path not in described] == [], name


def test_the_page_is_what_the_files_say() -> None:
    assert page.PATH.read_text() == page.text(), "The contract has changed: run `make contract`."


def _plain(route: str) -> str:
    """A route, whatever its ids are called."""
    return re.sub(r"\{\w+\}", "{}", route)
