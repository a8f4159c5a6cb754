"""The examples in the OpenAPI document: everything has one, and all of them are true."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import httpx
import jsonschema_rs
import msgspec
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from drf_spectacular.generators import SchemaGenerator
from rest_framework.serializers import Serializer

from accounts.services.sessions import open_session
from apidocs.asyncapi.schemas import schemas as schemas_of_streams
from apidocs.examples.bodies import FILES, OWN, REQUESTS
from apidocs.examples.fields import EVERYWHERE, FIELDS, NULL
from apidocs.examples.identity import OWN_IDS, SAME, shown_like
from apidocs.examples.parameters import PARAMETERS
from apidocs.examples.special import SPECIAL
from apidocs.examples.story import Like
from apidocs.examples.streamed import STREAMED
from apidocs.examples.values import Values
from apidocs.openapi.document import document
from publicapi.v1.operations import OPERATIONS
from tests.personas import new_user
from tests.service import Web

Operation = dict[str, Any]
Content = dict[str, Any]

# They take the bodies of what they estimate, and need nothing that exists.
ESTIMATES = {"estimateAsset", "estimateCouncil", "estimateImages", "estimateRun", "estimateVideo"}


def _operations() -> list[tuple[str, str, Operation]]:
    """The path, the method and what is said of it."""
    paths = document()["paths"].items()
    return [(path, method, each) for path, ways in paths for method, each in ways.items()]


def _bodies(operation: Operation) -> Iterator[Content]:
    yield from operation.get("requestBody", {}).get("content", {}).values()


def _answers(operation: Operation) -> Iterator[Content]:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield from response.get("content", {}).values()


def _values(content: Content) -> list[Any]:
    """The examples of a body or an answer."""
    shared = document()["components"]["examples"]
    found = content.get("examples", {}).values()
    return [
        (shared[each["$ref"].rpartition("/")[-1]] if "$ref" in each else each)["value"]
        for each in found
    ]


def _problems(schema: dict[str, Any], value: Any) -> list[str]:
    components = {"schemas": document()["components"]["schemas"]}
    validator = jsonschema_rs.Draft202012Validator(
        {**schema, "components": components}, validate_formats=True
    )
    return [error.message for error in validator.iter_errors(value)]


def test_every_body_and_every_answer_has_an_example_that_is_valid() -> None:
    for _, _, operation in _operations():
        for content in chain(_bodies(operation), _answers(operation)):
            values = _values(content)
            assert values, operation["operationId"]
            for value in values:
                assert _problems(content["schema"], value) == [], operation["operationId"]


def test_every_parameter_has_an_example_that_is_valid() -> None:
    for _, _, operation in _operations():
        for parameter in operation.get("parameters", []):
            where = operation["operationId"], parameter["name"]
            assert _problems(parameter["schema"], parameter["example"]) == [], where


def test_every_error_has_an_example_that_is_valid() -> None:
    components = document()["components"]
    for response in components["responses"].values():
        content = response["content"]["application/json"]
        values = _values(content)
        assert values
        assert [each for each in values if _problems(content["schema"], each)] == []
    for name in ("Refusal", "ValidationFailed", "PaymentRequired", "ErrorAnswer"):
        schema = components["schemas"][name]
        assert [_problems(schema, value) for value in schema["examples"]] == [[]]


def test_every_example_is_worth_reading() -> None:
    """Not the placeholder of a generator, and not nothing."""
    for name, example in document()["components"]["examples"].items():
        assert example["value"] not in ({}, [], "", None), name
        assert '"string"' not in json.dumps(example), name


def test_what_is_read_is_what_was_asked_for() -> None:
    """The id in the path of `GET` is that of the answer."""
    compared = 0
    for path, method, operation in _operations():
        if (
            method != "get"
            or not path.endswith("_id}")
            or operation["operationId"].startswith("list")
        ):
            continue
        ids = {each["name"]: each["example"] for each in operation["parameters"]}
        for content in _answers(operation):
            for value in _values(content):
                if isinstance(value, dict):
                    compared += 1
                    assert value["id"] == ids[path.rpartition("{")[-1].rstrip("}")], path
    assert compared > 5


def test_every_sample_is_in_an_example() -> None:
    """What is written for a field, body or parameter that is gone is deleted."""
    whole = document()
    schemas = {**whole["components"]["schemas"], **schemas_of_streams()}
    fields = {
        (name, field) for name, each in schemas.items() for field in each.get("properties", {})
    }
    assert {tuple(each.split(".")) for each in chain(SPECIAL, STREAMED)} <= fields
    shown = {(shown_like(name), field) for name, field in fields}
    shown |= {
        (operation["operationId"], parameter["name"])
        for _, _, operation in _operations()
        for parameter in operation.get("parameters", [])
    }
    assert {(name, field) for name, field in _samples()} <= shown
    assert {*EVERYWHERE, *NULL} <= {field for _, field in fields}
    assert OWN_IDS.keys() <= {name for name, field in fields if field == "id"}
    assert {*chain(*SAME.items())} <= schemas.keys()
    assert SPECIAL.keys().isdisjoint(STREAMED)
    operations = {each["operationId"]: each for _, _, each in _operations()}
    assert OWN.keys() <= operations.keys()
    taken = {
        body["schema"]["$ref"].rpartition("/")[-1]
        for each in operations.values()
        for body in _bodies(each)
    }
    assert REQUESTS.keys() <= taken
    parameters = {
        name
        for operation, each in operations.items()
        for parameter in each.get("parameters", [])
        for name in (parameter["name"], f"{operation}.{parameter['name']}")
    }
    assert PARAMETERS.keys() <= parameters
    used = {
        value
        for _, _, each in _operations()
        for content in _answers(each)
        for value in _values(content)
        if isinstance(value, str)
    }
    assert {*FILES.values()} <= used


def _samples() -> Iterator[tuple[str, str]]:
    """The component and the field of each sample that is written for some components."""
    for components, samples in FIELDS.items():
        for component in components.split():
            yield from ((component, field) for field in samples)


def test_a_sample_stands_for_the_fields_that_it_is_written_for_alone() -> None:
    """A `description` of a space is not that of a transaction."""
    component = {"properties": {"description": {"type": "string"}}, "required": ["description"]}
    described = dict.fromkeys(("Space", "Transaction"), component)

    assert Values(described).written(Like("Transaction")) == {"description": "Top-up"}
    with pytest.raises(LookupError, match=r"Space\.description"):
        Values(described).written(Like("Space"))


def test_no_field_is_written_for_twice() -> None:
    samples = [*_samples()]
    assert len(samples) == len(set(samples))


def test_what_means_the_same_everywhere_is_shown_by_many() -> None:
    """And is no text: words are said of something."""
    schemas = document()["components"]["schemas"].values()
    for field, value in EVERYWHERE.items():
        assert sum(field in each.get("properties", {}) for each in schemas) > 3, field
        assert " " not in str(value), field


def _readers() -> Iterator[tuple[Operation, type[Serializer[Any]], bool]]:
    """The operations of `/api` with a body, what reads it, and whether fields may be left out."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    generator._initialise_endpoints()  # type: ignore[no-untyped-call]
    for path, _, method, view in generator._get_paths_and_endpoints():  # type: ignore[no-untyped-call]
        operation = document()["paths"].get(path, {}).get(method.lower(), {})
        if operation.get("requestBody"):
            view.schema.view, view.schema.path, view.schema.method = view, path, method
            reader = view.schema.get_request_serializer()
            if isinstance(reader, dict):  # by media type
                [reader] = reader.values()
            is_partial = method == "PATCH"
            yield operation, reader if isinstance(reader, type) else type(reader), is_partial


@pytest.mark.django_db
def test_every_body_is_one_that_the_application_interface_takes() -> None:
    seen = 0
    for operation, reader, is_partial in _readers():
        for content in _bodies(operation):
            for value in _values(content):
                body = value
                if "file" in value:
                    body = {**value, "file": SimpleUploadedFile("tides", value["file"].encode())}
                read = reader(data=body, partial=is_partial)
                assert read.is_valid(), (operation["operationId"], read.errors)
                seen += 1
    assert seen > 60


def test_every_body_is_one_that_the_public_interface_takes() -> None:
    for operation in OPERATIONS:
        if operation.body:
            body = REQUESTS[operation.body.__name__]
            assert msgspec.convert(body, operation.body)


def test_what_is_ordered_in_an_example_can_be_ordered(web: Web, committed: None) -> None:
    """The parameters of a model are no fields of a serializer."""
    alice = new_user("alice", plan="max", balance_usd=5)
    with transaction.atomic():
        headers = {"Authorization": f"Bearer {open_session(alice).access_token}"}
    for path, _, operation in _operations():
        if operation["operationId"] in ESTIMATES:
            [content] = _bodies(operation)
            for body in _values(content):
                response = httpx.post(f"{web.url}{path}", json=body, headers=headers, timeout=20)
                assert response.status_code == 200, response.text
