"""The names in the OpenAPI document, which generated clients take for functions and types."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from apidocs.openapi.document import document
from billing.viewsets import BillingViewSet
from common.openapi import ApiSchema

# A new verb is worth a second thought: is there none here that says the same?
VERBS = set(
    """
    accept add apply authorize cancel change check compare continue control create deactivate
    decline delete discard download end estimate export extend get import invite leave list merge
    order rate reassign receive refresh regenerate remove replace request resend reset resolve
    restore retrieve retry revoke send set share sign star start stop stream top transcribe
    transfer update upload verify
    """.split()  # noqa: SIM905
)


def _names() -> list[str]:
    return [
        operation["operationId"]
        for operations in document()["paths"].values()
        for operation in operations.values()
    ]


def _words(name: str) -> list[str]:
    """Such as `["sign", "in"]`; empty where the name is not in camelCase."""
    is_camel_case = re.fullmatch(r"[a-z]+([A-Z][a-z]+)+", name)
    return re.sub("([A-Z])", r" \1", name).lower().split() if is_camel_case else []


def _echoes_a_path(name: str) -> bool:
    """Has it plurals on the way to what it is about, repetitions, or what only paths have?"""
    _verb, *nouns = [word.removesuffix("s") for word in _words(name)]
    inner_plurals = [word for word in _words(name)[1:-1] if re.search("[^s]s$", word)]
    return bool(inner_plurals) or len({*nouns}) < len(nouns) or not {*nouns}.isdisjoint({"me", "v"})


def test_every_operation_is_named_by_a_verb_and_what_it_is_done_to() -> None:
    assert [name for name in _names() if not _words(name) or _words(name)[0] not in VERBS] == []


def test_no_verb_is_allowed_that_no_operation_has() -> None:
    assert {_words(name)[0] for name in _names()} == VERBS


def test_no_name_of_an_operation_echoes_its_path() -> None:
    assert [name for name in _names() if _echoes_a_path(name)] == []
    assert _echoes_a_path("createConversationsMessage")
    assert _echoes_a_path("updateTeamsMeMember")


def test_the_names_of_operations_differ_in_every_spelling() -> None:
    spelled = sorted("_".join(_words(name)) for name in _names())
    assert [name for name, following in pairwise(spelled) if name == following] == []


def test_what_answers_with_a_list_is_named_so() -> None:
    for path, operations in document()["paths"].items():
        for operation in operations.values():
            content = operation["responses"].get("200", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            if path.startswith("/api"):
                name = operation["operationId"]
                assert name.startswith("list") == (schema.get("type") == "array"), name


def test_types_have_names_of_their_own() -> None:
    """None is named by the generator: not after a mere field, not by a number, not `Patched`."""
    generated = "Patched.*|.*Enum|.*[0-9].*|Null|Blank|Code|Kind|Reason|Role|State|Status|Type"
    names = document()["components"]["schemas"]
    assert [name for name in names if re.fullmatch(generated, name)] == []


def test_every_object_with_known_fields_is_a_type_with_a_name() -> None:
    """Generated clients would name it after the place where it is."""
    whole = document()
    named = whole["components"]["schemas"].values()
    operations = [each for path in whole["paths"].values() for each in path.values()]
    places = [*named, *operations, *whole["components"]["responses"].values()]
    assert [found for place in places for found in _nameless(place) if found not in named] == []


def _nameless(described: Any) -> Iterator[Any]:
    """The objects with properties in it, at any depth. What stands beside a `$ref` narrows it."""
    if isinstance(described, dict) and "$ref" not in described:
        if described.get("type") == "object" and "properties" in described:
            yield described
        for each in described.values():
            yield from _nameless(each)
    if isinstance(described, list):
        for each in described:
            yield from _nameless(each)


def test_a_view_without_a_name_is_not_described() -> None:
    described = ApiSchema()
    described.view = BillingViewSet(action="balance")
    with pytest.raises(ImproperlyConfigured, match=r"^BillingViewSet\.balance has no operation_id"):
        described.get_operation_id()
