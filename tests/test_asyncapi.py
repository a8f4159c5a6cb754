"""`/asyncapi.json`: all that is streamed, true of every event that a test writes, and not in
production (tests/test_openapi.py).

That events are as declared is checked after each test that writes some (conftest.py).
"""

import json
import re
from typing import Any

import httpx
import pytest
from drf_spectacular.drainage import GENERATOR_STATS

from apidocs import write
from apidocs.asyncapi.document import document
from apidocs.asyncapi.schemas import FRAMES_KIND, all_types, schemas
from apidocs.examples.messages import ACTORS
from apidocs.examples.story import ID, Like
from apidocs.examples.values import Values
from apidocs.openapi.document import document as openapi_document
from config.sockets import _BY_FOLDER, _BY_PATH
from council.types import STREAM as COUNCIL
from devserver.paths import ROOT
from events.declarations import declared_types
from events.types import USER_STREAM
from projects.types import STREAM as PROJECT
from tests.declared_events import problems, writers
from tests.documents import assert_same, rows, section
from tests.service import Web
from tests.test_contract import ids_in

DOCUMENT = document("https://example.com")
MESSAGES: dict[str, Any] = DOCUMENT["components"]["messages"]
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Both have messages of their own: they are no events.
TYPES = {name: message for name, message in MESSAGES.items() if "." in name}


def test_what_is_served_is_the_document(web: Web) -> None:
    response = httpx.get(f"{web.url}/asyncapi.json")
    assert response.headers["content-type"] == "application/json"
    served = response.json()
    assert served["servers"]["sockets"]["host"] == web.url.removeprefix("http://")
    assert served["channels"] == DOCUMENT["channels"]


def test_a_secure_service_has_secure_sockets() -> None:
    servers = DOCUMENT["servers"]
    assert [servers[each]["protocol"] for each in ("sockets", "http")] == ["wss", "https"]


def test_what_is_kept_beside_the_code_is_true() -> None:
    kept = (ROOT / "docs" / "asyncapi.json").read_text()
    assert kept == write.asyncapi_text(), "The events have changed: run `make openapi`."


def test_nothing_about_events_is_guessed() -> None:
    with GENERATOR_STATS.silence():
        schemas.__wrapped__()
    assert not GENERATOR_STATS


def test_both_documents_have_the_same_schemas_for_the_same_things() -> None:
    rest = openapi_document()["components"]["schemas"]
    events = DOCUMENT["components"]["schemas"]
    shared = rest.keys() & events.keys()
    assert {"Event", "Job", "CouncilSessionRow"} <= shared
    assert [name for name in shared if rest[name] != events[name]] == []


def test_every_socket_is_a_channel_and_no_other() -> None:
    served = {*_BY_PATH, *(f"{folder}/{{session_id}}" for folder in _BY_FOLDER)}
    channels = DOCUMENT["channels"].values()
    described = {each["address"] for each in channels if "ws" in each.get("bindings", {})}
    assert described == served


def test_every_streamed_reply_is_a_channel_and_no_other() -> None:
    paths = openapi_document()["paths"]
    served = {
        (path, method.upper())
        for path, methods in paths.items()
        for method, operation in methods.items()
        if path.startswith("/api/")
        and any("text/event-stream" in each.get("content", {}) for each in _answers(operation))
    }
    described = {
        (
            DOCUMENT["channels"][operation["channel"]["$ref"].rpartition("/")[2]]["address"],
            operation["bindings"]["http"]["method"],
        )
        for operation in DOCUMENT["operations"].values()
        if "bindings" in operation
    }
    assert described == served


def test_the_close_codes_are_those_of_the_page() -> None:
    page = section(ROOT / "docs" / "api" / "events.md", "The two ways to read")
    codes = [code for row in rows(page) for code in row[0].split(", ")]
    stated = {code for code in codes if code.isdigit()}
    described = {
        code
        for channel in DOCUMENT["channels"].values()
        for code in channel.get("x-close-codes", {})
    }
    assert described == stated
    assert "4410" not in DOCUMENT["channels"][COUNCIL]["x-close-codes"]


@pytest.mark.parametrize("name", TYPES)
def test_an_example_is_as_declared(name: str) -> None:
    kind, _, event_type = name.partition(".")
    payload = _payload(name)
    assert payload["type"] == event_type
    data = payload["data"] if kind != FRAMES_KIND else _without_type(payload)
    assert [*problems(kind, event_type, data)] == []


def test_both_documents_tell_the_same_story() -> None:
    """With the same ids, and no others."""
    examples = [message["examples"] for message in MESSAGES.values()]
    examples += openapi_document()["components"]["examples"].values()
    shown = {*_UUID.findall(json.dumps(examples))}
    assert len(shown) > 20
    assert shown <= {*ID.values()}


def test_the_openapi_document_has_events_and_parts_of_replies_as_declared() -> None:
    examples = openapi_document()["components"]["examples"]
    for operation, kind in (
        ("listEvents", USER_STREAM),
        ("listCouncilEvents", COUNCIL),
        ("listRunEvents", PROJECT),
    ):
        [event] = examples[operation]["value"]
        assert [*problems(kind, event["type"], event["data"])] == []
        assert event["session_id"] == _payload(f"{kind}.{event['type']}")["session_id"]
    *parts, last = re.findall("data: (.*)", examples["ReplyStream"]["value"])
    assert last == "[DONE]"
    for part in map(json.loads, parts):
        assert [*problems(FRAMES_KIND, part["type"], _without_type(part))] == []


def test_an_example_needs_a_sample_of_each_field() -> None:
    depth = {"type": "number"}
    schema = {"type": "object", "properties": {"depth": depth}, "required": ["depth"]}
    values = Values({"Buoy": schema})
    with pytest.raises(LookupError, match=r"Buoy\.depth"):
        values.written(Like("Buoy"))
    assert values.written(Like("Buoy", depth=3)) == {"depth": 3}
    with pytest.raises(LookupError, match="colour"):
        values.written(Like("Buoy", depth=3, colour="red"))


def test_who_writes_an_event_is_said_of_events_that_are_there() -> None:
    assert ACTORS.keys() <= TYPES.keys()


def test_what_is_not_declared_so_is_found() -> None:
    removed = {"card_id": "019a9c3e-7c1d-7b52-9f0e-4d1a2b3c4d5e"}
    assert [*problems(COUNCIL, "card.removed", removed)] == []
    for kind, name, data in (
        (COUNCIL, "card.thrown", removed),
        (PROJECT, "card.removed", removed),
        (COUNCIL, "card.removed", {}),
        (COUNCIL, "card.removed", {"card_id": 1}),
        (COUNCIL, "card.removed", {"card_id": "a"}),
        (COUNCIL, "card.removed", removed | {"more": 1}),
    ):
        assert [*problems(kind, name, data)] != []


def test_each_type_is_written_by_a_test_that_is_there() -> None:
    """Which fails where it writes none (conftest.py)."""
    named = {(kind, name) for kind, types in writers().items() for name in types}
    declared = {(kind, each.name) for kind, types in declared_types().items() for each in types}
    assert_same(named, declared, "tests/written_events.toml")
    tests = {test for types in writers().values() for test in types.values()}
    assert [test for test in tests if test not in ids_in(test.partition("::")[0])] == []


@pytest.mark.parametrize(
    ("page", "title", "kind"),
    [
        ("events.md", "The stream of a council", COUNCIL),
        ("events.md", "The stream of a user", USER_STREAM),
        ("projects.md", "Following it live", PROJECT),
        ("chat.md", "What comes", FRAMES_KIND),
    ],
)
def test_the_pages_have_the_declared_types(page: str, title: str, kind: str) -> None:
    """With the same fields and the same words."""
    table = rows(section(ROOT / "docs" / "api" / page, title))
    stated = [
        (name, _fields(fields), re.sub(r"\[(.*?)]\(.*?\)", r"\1", when))
        for names, fields, when in table
        for name in names.replace("`", "").split(", ")
    ]
    declared = [(each.name, frozenset(each.data), each.when) for each in all_types()[kind]]
    assert_same(stated, declared, f"docs/api/{page}, {title}")


def _payload(name: str) -> dict[str, Any]:
    [example] = TYPES[name]["examples"]
    payload: dict[str, Any] = example["payload"]
    return payload


def _fields(cell: str) -> frozenset[str]:
    """The fields of the data that a cell names: of a field it may say more."""
    own = cell.partition(", with ")[0].replace("`", "")
    return frozenset(name.partition(".")[0] for name in own.split(", ") if name)


def _answers(operation: dict[str, Any]) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = list(operation["responses"].values())
    return answers


def _without_type(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in json.loads(json.dumps(part)).items() if name != "type"}
