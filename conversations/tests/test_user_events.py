"""All of a user's devices are told what their list of conversations shows now."""

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from ai.generations.endings import release_readers
from ai.generations.types import Completion
from ai.inference.errors import CallCancelled, UpstreamFailed
from billing.tests import bank
from billing.tests.web_app import client_of
from billing.types import Ending
from conversations.services.completion import REPLY
from conversations.services.titles import conclude
from conversations.tests import manual
from conversations.tests.rows import talk
from events.tests.streams import user_events
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("providers")

PATH = "/api/conversations"


@pytest.fixture
def user(committed: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def client(user: User) -> APIClient:
    return client_of(user)


def in_list(client: APIClient) -> dict[str, object]:
    """The first row of the list, but for where a search has found it."""
    row = dict(client.get(PATH).json()[0])
    del row["match"]
    return row


def test_a_new_conversation_comes_as_its_row(user: User, client: APIClient) -> None:
    made = client.post(PATH, {"title": "Sea"}, format="json").json()
    [(kind, data)] = user_events(user)
    assert (kind, data) == ("conversation.created", {"conversation": in_list(client)})
    assert data["conversation"]["id"] == made["id"]


def test_the_list_says_from_where_on_later_changes_come(user: User, client: APIClient) -> None:
    client.post(PATH, {"title": "Sea"}, format="json")
    after_seq = client.get(PATH)["X-Next-Seq"]
    client.post(PATH, {"title": "Lake"}, format="json")

    [event] = client.get("/api/events", {"after_seq": after_seq}).json()

    assert event["data"]["conversation"]["title"] == "Lake"


def test_a_renamed_and_a_moved_one_come_as_their_rows(user: User, client: APIClient) -> None:
    conversation = talk(user, "Hi", "Hello")
    space = client.post("/api/spaces", {"name": "Water"}, format="json").json()
    for changes in ({"title": "Sea"}, {"space_id": space["id"]}):
        client.patch(f"{PATH}/{conversation.pk}", changes, format="json")
        kind, data = user_events(user)[-1]
        assert (kind, data) == ("conversation.updated", {"conversation": in_list(client)})
        assert data["conversation"].items() >= changes.items()


def test_a_deleted_space_is_told_once_for_all_that_was_in_it(user: User, client: APIClient) -> None:
    space = client.post("/api/spaces", {"name": "Water"}, format="json").json()
    for _ in range(2):
        talk(user, space_id=space["id"])

    client.delete(f"/api/spaces/{space['id']}")

    assert user_events(user) == [("space.deleted", {"space_id": space["id"]})]


def test_what_a_deleted_message_leaves_comes_as_its_row(user: User, client: APIClient) -> None:
    conversation = talk(user, "Hi", "Hello")
    first, _ = conversation.messages.order_by("id")
    client.delete(f"{PATH}/{conversation.pk}/messages/{conversation.leaf_id}")
    kind, data = user_events(user)[-1]
    assert (kind, data) == ("conversation.updated", {"conversation": in_list(client)})
    assert data["conversation"]["active_leaf_id"] == str(first.pk)


def test_each_of_several_that_are_deleted_is_told(user: User, client: APIClient) -> None:
    ids = sorted(str(talk(user, "Hi").pk) for _ in range(2))
    client.post(f"{PATH}/delete", {"ids": ids}, format="json")
    kinds = [(kind, data["conversation_id"]) for kind, data in user_events(user)]
    assert kinds == [("conversation.deleted", each) for each in ids]


def test_a_change_of_nothing_is_not_told(user: User, client: APIClient) -> None:
    conversation = talk(user, "Hi", "Hello")
    assert client.patch(f"{PATH}/{conversation.pk}", {}, format="json").status_code == 200
    assert user_events(user) == []


def test_a_deleted_one_is_named(user: User, client: APIClient) -> None:
    conversation = talk(user, "Hi", "Hello")
    client.delete(f"{PATH}/{conversation.pk}")
    assert user_events(user) == [
        ("conversation.deleted", {"conversation_id": str(conversation.pk)})
    ]


def test_a_reply_is_told_when_it_begins_and_when_it_has_ended(user: User) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation, "How deep is the sea?")
    data = {
        "conversation_id": str(conversation.pk),
        "title": "How deep is the sea?",
        "message_id": str(call.id),
    }
    assert user_events(user) == [("conversation.replied", {**data, "status": "running"})]
    call.settle("Deep.")
    assert user_events(user)[1:] == [("conversation.replied", {**data, "status": "completed"})]


def test_its_end_says_how_it_went(user: User) -> None:
    failed, stopped = manual.begin(user, talk(user)), manual.begin(user, talk(user))
    failed.release(UpstreamFailed())
    stopped.settle("Dee", CallCancelled())
    assert [data["status"] for _, data in user_events(user)[2:]] == ["failed", "cancelled"]


def test_one_whose_readers_were_released_has_ended_once(user: User) -> None:
    call = manual.begin(user, talk(user))
    stopped = Completion(content="Dee", failure=CallCancelled())
    release_readers(REPLY, call_id=call.id, attempt=1, completion=stopped)
    call.settle("Deep.", CallCancelled())
    assert [data["status"] for _, data in user_events(user)] == ["running", "cancelled"]


def test_of_a_deleted_conversation_no_reply_is_told(user: User, client: APIClient) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation)
    client.delete(f"{PATH}/{conversation.pk}")
    call.settle("Deep.", CallCancelled())
    assert [kind for kind, _ in user_events(user)] == [
        "conversation.replied",
        "conversation.deleted",
    ]


def test_a_reply_that_cannot_begin_is_not_told(user: User) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation)
    with pytest.raises(Exception, match="reply"):
        manual.begin(user, conversation)
    assert len(user_events(user)) == 1
    call.settle("Deep.")


def test_a_title_that_a_model_has_made_late_is_told(user: User, client: APIClient) -> None:
    conversation = talk(user, "hi", "Hello", title="hi")
    charge = bank.hold(user, manual.COST, owner=bank.live_owner())[1]
    ending = Ending(charge, user.pk, "settled", manual.COST, {"tokens_in": 5, "tokens_out": 10})
    conclude(question_id=conversation.messages.earliest("id").pk, ending=ending, title="A Greeting")
    [(kind, data)] = user_events(user)
    assert (kind, data) == ("conversation.updated", {"conversation": in_list(client)})
    assert data["conversation"]["title"] == "A Greeting"
