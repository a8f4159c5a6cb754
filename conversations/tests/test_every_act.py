"""Each endpoint that changes conversations is tried: what the user's own stream brings makes the
list of before into the list of after, as docs/api/events.md says.

An endpoint without a line here fails the last test.
"""

import json
from typing import Any

import pytest

from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import Shape, Speaker
from tests.documents import assert_same
from tests.endpoints import Endpoint, acts_under

CONVERSATIONS, SPACES = "/api/conversations", "/api/spaces"
TALK, SPACE = f"{CONVERSATIONS}/{{conversation_id}}", f"{SPACES}/{{space_id}}"
MESSAGE = f"{TALK}/messages/{{message_id}}"
# What each is sent, after what has to be done before it. Ids are filled in as in paths.
BODIES: dict[Endpoint, dict[str, Any]] = {
    ("POST", CONVERSATIONS): {"title": "Lake"},
    ("PATCH", TALK): {"title": "Lake", "pinned": True, "space_id": None},
    ("DELETE", TALK): {},
    ("POST", f"{CONVERSATIONS}/delete"): {"ids": ["{conversation_id}"]},
    ("POST", f"{TALK}/share"): {},
    ("DELETE", f"{TALK}/share"): {},
    ("POST", f"{TALK}/messages"): {"content": "How wide is it?"},
    ("DELETE", MESSAGE): {},
    ("POST", f"{MESSAGE}/regenerate"): {},
    ("POST", f"{MESSAGE}/stop"): {},
    ("PUT", f"{MESSAGE}/feedback"): {"rating": "up"},
    ("DELETE", f"{MESSAGE}/feedback"): {},
    ("POST", SPACES): {"name": "Water"},
    ("PATCH", SPACE): {"name": "Water"},
    ("DELETE", SPACE): {},
    ("PATCH", SPACES): {"id": "{space_id}", "name": "Water"},
    ("DELETE", SPACES): {"id": "{space_id}"},
}
BEFORE: dict[Endpoint, Endpoint] = {
    ("DELETE", f"{TALK}/share"): ("POST", f"{TALK}/share"),
    ("DELETE", f"{MESSAGE}/feedback"): ("PUT", f"{MESSAGE}/feedback"),
}
# What `conversation.replied` does not bring.
NOT_TOLD = ("match", "updated_at", "active_leaf_id")

Rows = dict[str, Shape]


def apply(rows: Rows, event: Shape) -> Rows:
    """The list after an event."""
    data = event["data"]
    match event["type"]:
        case "conversation.created" | "conversation.updated":
            return {**rows, data["conversation"]["id"]: shown(data["conversation"])}
        case "conversation.deleted":
            return {each: row for each, row in rows.items() if each != data["conversation_id"]}
        case "conversation.replied":
            running = data["message_id"] if data["status"] == "running" else None
            row = {"title": data["title"], "running_message_id": running}
            return {**rows, data["conversation_id"]: {**rows[data["conversation_id"]], **row}}
        case "space.updated":
            return rows
        case "space.deleted":
            freed = {"space_id": None}
            return {
                each: {**row, **(freed if row["space_id"] == data["space_id"] else {})}
                for each, row in rows.items()
            }
    raise AssertionError(event["type"])


def shown(row: Shape) -> Shape:
    return {name: value for name, value in row.items() if name not in NOT_TOLD}


def send(alice: Speaker, method: str, path: str, body: Any = None) -> Any:
    answer = alice.http.request(method, path, json=body, headers=alice.headers)
    assert answer.is_success, answer.text
    return answer


def listed(alice: Speaker) -> Rows:
    return {row["id"]: shown(row) for row in send(alice, "GET", CONVERSATIONS).json()}


@pytest.mark.parametrize(("method", "path"), BODIES)
def test_the_list_is_what_the_user_s_stream_makes_of_it(
    speaker: NewSpeaker, method: str, path: str
) -> None:
    alice = speaker()
    space_id = send(alice, "POST", SPACES, {"name": "Sea"}).json()["id"]
    ids = {"space_id": space_id, "conversation_id": alice.begin(title="Sea", space_id=space_id)}
    ids["message_id"] = alice.send(ids["conversation_id"]).reply_id

    def act(endpoint: Endpoint) -> None:
        body = json.dumps(BODIES[endpoint])
        for name, value in ids.items():
            body = body.replace(f"{{{name}}}", value)
        send(alice, endpoint[0], endpoint[1].format(**ids), json.loads(body))

    if (method, path) in BEFORE:
        act(BEFORE[method, path])
    rows, seq = listed(alice), send(alice, "GET", "/api/events").headers["X-Next-Seq"]

    act((method, path))

    for event in send(alice, "GET", f"/api/events?after_seq={seq}").json():
        rows = apply(rows, event)
    assert rows == listed(alice)


def test_every_endpoint_that_changes_conversations_is_tried() -> None:
    acts = acts_under(CONVERSATIONS, SPACES)
    assert_same(BODIES, acts, "BODIES in conversations/tests/test_every_act.py")
