"""A list refuses names in its query that the interface does not describe, and takes the others."""

from typing import Any

import pytest

from apidocs.openapi.document import document
from conftest import Persona


def _lists() -> dict[str, dict[str, Any]]:
    """By path, the example of each name that a list of `/api` takes."""
    found = {}
    for path, ways in document()["paths"].items():
        named = ways.get("get", {}).get("parameters", [])
        query = {each["name"]: each["example"] for each in named if each["in"] == "query"}
        if path.startswith("/api") and "limit" in query:
            ids = {each["name"]: each["example"] for each in named if each["in"] == "path"}
            found[path.format(**ids)] = query
    return found


LISTS = _lists()


@pytest.mark.parametrize("path", LISTS)
def test_an_unknown_name_is_refused(alice: Persona, path: str) -> None:
    answer = alice.client.get(path, {"colour": "red"})

    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["loc"] == ["colour"]
    for name in LISTS[path]:
        assert name in error["msg"]


@pytest.mark.parametrize("path", LISTS)
def test_a_described_name_is_taken(alice: Persona, path: str) -> None:
    for name, value in LISTS[path].items():
        answer = alice.client.get(path, {name: value})

        assert b"only these names" not in answer.content, name


def test_what_is_no_list_takes_any_name(alice: Persona) -> None:
    assert alice.client.get("/api/users/me", {"colour": "red"}).status_code == 200


def test_all_lists_are_tested() -> None:
    assert len(LISTS) > 20
