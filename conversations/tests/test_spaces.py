"""/api/spaces: folders of conversations."""

import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from billing.tests.web_app import client_of
from conftest import Persona
from conversations.models import Conversation, Space
from conversations.tests.rows import talk
from conversations.types import MAX_INSTRUCTIONS, MAX_NAME, MAX_SPACES
from tests.personas import new_user

SPACES = "/api/spaces"


def make(persona: Persona, **body: Any) -> Any:
    return persona.client.post(SPACES, {"name": "Sea", **body}, format="json")


def change(persona: Persona, space_id: str, **body: Any) -> Any:
    return persona.client.patch(f"{SPACES}/{space_id}", body, format="json")


def test_a_space_may_be_named_in_the_body_or_the_query(alice: Persona, bob: Persona) -> None:
    first, second = (make(alice).json()["id"] for _ in range(2))
    patch, delete = alice.client.patch, alice.client.delete

    changed = patch(SPACES, {"id": first, "name": "Lake"}, format="json")
    assert (changed.status_code, changed.json()["name"]) == (200, "Lake")
    changed = patch(f"{SPACES}?id={second}", {"name": "Pond"}, format="json")
    assert (changed.json()["id"], changed.json()["name"]) == (second, "Pond")
    for body in ({"name": "Lake"}, {"id": "x", "name": "Lake"}, [first]):
        assert patch(SPACES, body, format="json").status_code == 422
    assert bob.client.patch(SPACES, {"id": first}, format="json").status_code == 404
    assert bob.client.delete(f"{SPACES}?id={first}").status_code == 404

    assert delete(SPACES).status_code == 422
    assert delete(f"{SPACES}?id={first}").status_code == 204
    assert delete(SPACES, {"id": second}, format="json").status_code == 204
    assert alice.client.get(SPACES).json() == []


def test_a_space_is_made_and_read_again(alice: Persona) -> None:
    answer = make(alice, instructions="Be brief.")

    assert answer.status_code == 201
    space = answer.json()
    assert alice.client.get(f"{SPACES}/{space['id']}").json() == space
    assert {key: space[key] for key in ("name", "instructions", "conversations")} == {
        "name": "Sea",
        "instructions": "Be brief.",
        "conversations": 0,
    }
    assert set(space) == {
        "id",
        "name",
        "instructions",
        "conversations",
        "shared",
        "owner",
        "access",
        "created_at",
        "updated_at",
    }


def test_spaces_are_listed_newest_first_with_the_number_of_their_conversations(
    alice: Persona,
) -> None:
    first, second = (make(alice).json()["id"] for _ in range(2))
    for _ in range(2):
        talk(alice.user, space_id=first)

    listed = alice.client.get(SPACES).json()

    assert [(space["id"], space["conversations"]) for space in listed] == [(second, 0), (first, 2)]


def test_a_page_of_spaces_leads_to_the_next(alice: Persona) -> None:
    for _ in range(3):
        make(alice)

    page = alice.client.get(SPACES, {"limit": 2})
    rest = alice.client.get(page.headers["Link"].partition(">")[0].strip("<"))

    assert [len(page.json()), len(rest.json())] == [2, 1]


def test_a_longer_list_takes_no_more_queries(alice: Persona) -> None:
    make(alice)
    with CaptureQueriesContext(connection) as few:
        alice.client.get(SPACES)
    for _ in range(3):
        make(alice)
    with CaptureQueriesContext(connection) as many:
        alice.client.get(SPACES)

    assert len(many) == len(few) == 2


def test_a_name_is_one_line_of_what_is_seen(alice: Persona) -> None:
    space = make(alice, name=" Se\u202ea\n 1 ").json()

    assert space["name"] == "Sea 1"
    assert change(alice, space["id"], name="Se\x1ba\t2").json()["name"] == "Sea 2"


def test_only_what_is_named_is_changed(alice: Persona) -> None:
    space = make(alice, instructions="Be brief.").json()

    renamed = change(alice, space["id"], name="Ocean").json()
    changed = change(alice, space["id"], instructions="").json()

    assert (renamed["name"], renamed["instructions"]) == ("Ocean", "Be brief.")
    assert (changed["name"], changed["instructions"]) == ("Ocean", "")
    assert changed["created_at"] == space["created_at"]
    assert change(alice, space["id"]).json() == changed


def test_a_change_is_told_by_the_time_of_the_change(alice: Persona) -> None:
    space = make(alice).json()
    Space.objects.update(updated_at="2026-01-01T00:00:00Z")

    assert change(alice, space["id"], name="Ocean").json()["updated_at"] > "2026-01-02"


def test_deleting_a_space_keeps_its_conversations(alice: Persona) -> None:
    space = make(alice).json()
    conversation = talk(alice.user, "How deep?", space_id=space["id"])

    answer = alice.client.delete(f"{SPACES}/{space['id']}")

    assert answer.status_code == 204
    conversation.refresh_from_db()
    assert conversation.space is None
    assert conversation.messages.count() == 1
    assert alice.client.get(f"{SPACES}/{space['id']}").status_code == 404


def test_there_are_only_so_many_spaces(alice: Persona) -> None:
    Space.objects.bulk_create([Space(account=alice.user, name="x") for _ in range(MAX_SPACES - 1)])
    assert make(alice).status_code == 201

    answer = make(alice)

    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_spaces")
    alice.client.delete(f"{SPACES}/{Space.objects.first().pk}")  # type: ignore[union-attr]
    assert make(alice).status_code == 201


@pytest.mark.usefixtures("committed")
def test_parallel_creations_do_not_pass_the_limit() -> None:
    user = new_user("alice")
    Space.objects.bulk_create([Space(account=user, name="x") for _ in range(MAX_SPACES - 1)])
    codes: list[int] = []

    def create() -> None:
        answer = client_of(user).post(SPACES, {"name": "Sea"}, format="json")
        codes.append(answer.status_code)
        connection.close()

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(codes) == [201, 409, 409, 409]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "\u2066\u2069"}, "name"),
        ({"name": None}, "name"),
        ({"name": 7}, "name"),
        ({"name": "x" * (MAX_NAME + 1)}, "name"),
        ({"name": "Sea", "instructions": "x" * (MAX_INSTRUCTIONS + 1)}, "instructions"),
        ({"name": "Sea", "instructions": ["x"]}, "instructions"),
    ],
)
def test_a_space_that_is_none_is_422(alice: Persona, body: dict[str, Any], field: str) -> None:
    answer = alice.client.post(SPACES, body, format="json")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [field]


@pytest.mark.parametrize("body", [{"name": ""}, {"name": None}, {"instructions": 7}])
def test_a_change_to_what_is_none_is_422(alice: Persona, body: dict[str, Any]) -> None:
    space = make(alice).json()

    assert change(alice, space["id"], **body).status_code == 422
    assert alice.client.get(f"{SPACES}/{space['id']}").json() == space


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_a_space_of_somebody_else_is_not_there(alice: Persona, bob: Persona, method: str) -> None:
    space = make(alice).json()
    url = f"{SPACES}/{space['id']}"

    answer = getattr(bob.client, method)(url, {"name": "Mine"}, format="json")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert alice.client.get(url).json() == space
    assert bob.client.get(SPACES).json() == []
    assert bob.client.get(f"{SPACES}/{uuid4()}").status_code == 404


def test_spaces_need_a_token(alice: Persona, visitor: Any) -> None:
    space = make(alice).json()

    for method, url in (("get", SPACES), ("post", SPACES), ("delete", f"{SPACES}/{space['id']}")):
        assert getattr(visitor, method)(url).status_code == 401


@pytest.mark.usefixtures("committed")
def test_moving_into_a_space_that_is_being_deleted_ends_in_one_of_two_ways() -> None:
    user = new_user("alice")
    client = client_of(user)
    for _ in range(5):
        space = Space.objects.create(account=user, name="Sea")
        conversation = talk(user, "How deep?")
        codes: list[int] = []
        url = f"/api/conversations/{conversation.pk}"

        def move(url: str = url, space: Space = space, codes: list[int] = codes) -> None:
            answer = client_of(user).patch(url, {"space_id": str(space.pk)}, format="json")
            codes.append(answer.status_code)
            connection.close()

        mover = threading.Thread(target=move)
        mover.start()
        deleted = client.delete(f"{SPACES}/{space.pk}").status_code
        mover.join()

        assert deleted == 204
        assert codes in ([200], [404])
        assert Conversation.objects.get(pk=conversation.pk).space_id is None
