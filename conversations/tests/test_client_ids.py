"""`id` of a message that is sent: what its client calls it, by which it is found everywhere."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from accounts.models import User
from billing.errors import IdempotencyInProgress
from billing.tests import bank
from conftest import Persona
from conversations.models import Attachment, Message
from conversations.selectors.conversations import get_conversation
from conversations.services import sending
from conversations.services.preparation import prepare_message
from conversations.tests import manual
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import USER, add, talk
from conversations.tests.speaker import FREE_MODEL, Shape, Speaker
from media.files.models import Upload
from tests.personas import new_user

OF_THE_SDK = "q8Ml0fKXJjzhFZbC"
MALFORMED = [
    "",
    "short",
    "x" * 15,
    "x" * 65,
    "two words of an id",
    "äöüäöüäöüäöüäöüä",
    7,
    ["x" * 16],
]


@pytest.fixture
def user(committed: None, providers: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def post(person: Speaker, conversation: str, **body: Any) -> httpx.Response:
    """A message, whose answer is read whole."""
    return person.ask("POST", f"/{conversation}/messages", **body)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# --- Found by it ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message_id", [OF_THE_SDK, "0b6e1a52-8d0c-4e3b-9d0f-2f6f0f0f7a11", "msg-" + "x" * 60, "_" * 16]
)
def test_a_message_keeps_the_id_that_its_client_has_brought(
    speaker: NewSpeaker, message_id: str
) -> None:
    alice = speaker()
    conversation = alice.begin()

    heard = alice.send(conversation, id=message_id)

    question, reply = alice.detail(conversation)["messages"]
    assert (question["client_id"], reply["client_id"]) == (message_id, None)
    assert heard.metadata["user_message_id"] == question["id"] != message_id


def test_without_one_it_has_none(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    alice.send(conversation)
    alice.send(conversation, id=None)
    assert [each["client_id"] for each in alice.detail(conversation)["messages"]] == [None] * 4


def test_a_reply_without_a_stream_tells_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    body = {"content": alice.words(), "stream": False, "id": OF_THE_SDK}
    assert post(alice, alice.begin(), **body).json()["user_message"]["client_id"] == OF_THE_SDK


def test_other_messages_follow_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    alice.send(conversation, id=OF_THE_SDK)

    beside = alice.send(conversation, id="another-id-of-16", parent_id=OF_THE_SDK)

    question, *_, second, _ = alice.detail(conversation)["messages"]
    assert second["parent_id"] == question["id"]
    assert beside.metadata["user_message_id"] == second["id"]


def test_it_is_answered_anew_by_the_model_that_answered_it_last(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=FREE_MODEL)
    first = alice.send(conversation, id=OF_THE_SDK, model="claude-haiku-5-5")

    path = f"/{conversation}/messages/{OF_THE_SDK}/regenerate"
    with alice.stream("POST", path) as stream:
        second = stream.to_the_end()

    question, *replies = alice.detail(conversation)["messages"]
    assert [each["id"] for each in replies] == [first.reply_id, second.reply_id]
    assert {each["parent_id"] for each in replies} == {question["id"]}
    assert second.metadata["model"] == "claude-haiku-5-5"


def test_its_reply_is_followed_and_stopped_by_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    path = f"/{conversation}/messages/{OF_THE_SDK}"
    content = alice.words(tokens=500, delay_ms=20)
    body: Shape = {"content": content, "id": OF_THE_SDK}
    with alice.stream("POST", f"/{conversation}/messages", **body) as stream:
        stream.until("text-delta")
        with alice.stream("GET", f"{path}/stream") as other:
            other.until("start")
            assert other.heard.reply_id == stream.heard.reply_id
            stopped = alice.ask("POST", f"{path}/stop")
            assert (stopped.status_code, stopped.json()["id"]) == (202, other.heard.reply_id)
            assert other.to_the_end().finish["finishReason"] == "other"
        stream.to_the_end()
    assert alice.ask("POST", f"{path}/stop").status_code == 200
    assert alice.ask("GET", f"{path}/stream").status_code == 204


def test_the_branch_that_ends_with_it_is_shown(alice: Persona) -> None:
    sea = talk(alice.user)
    question = add(sea, "How deep?", client_id=OF_THE_SDK)
    add(sea, "Very.")

    path = f"/api/conversations/{sea.pk}"
    shown = alice.client.patch(path, {"active_leaf_id": OF_THE_SDK}, format="json")

    assert shown.json()["active_leaf_id"] == str(question.pk)


def test_its_files_are_found_by_it_in_the_newest_conversation_of_several(alice: Persona) -> None:
    for name in ("old.txt", "new.txt"):
        message = add(talk(alice.user), "How deep?", client_id=OF_THE_SDK)
        upload = Upload.objects.create(
            account=alice.user, name=name, media_type="text/plain", is_text=True, size=7
        )
        Attachment.objects.create(message=message, upload=upload)

    [file] = alice.client.get(f"/api/files/{OF_THE_SDK}").json()

    assert file["name"] == "new.txt"


def test_the_files_of_somebody_else_s_message_are_not_found_by_it(
    alice: Persona, bob: Persona
) -> None:
    def send(person: Persona) -> str:
        message = add(talk(person.user), "How deep?", client_id=OF_THE_SDK)
        upload = Upload.objects.create(
            account=person.user, name="a.txt", media_type="text/plain", is_text=True, size=7
        )
        Attachment.objects.create(message=message, upload=upload)
        return str(upload.pk)

    hers = send(alice)
    assert bob.client.get(f"/api/files/{OF_THE_SDK}").status_code == 404

    send(bob)
    [file] = alice.client.get(f"/api/files/{OF_THE_SDK}").json()
    assert file["id"] == hers


def test_the_files_of_a_message_are_those_of_its_own_id_whoever_is_called_so(
    alice: Persona,
) -> None:
    message = add(talk(alice.user), "How deep?")
    upload = Upload.objects.create(
        account=alice.user, name="sea.txt", media_type="text/plain", is_text=True, size=7
    )
    Attachment.objects.create(message=message, upload=upload)
    add(talk(alice.user), "How deep?", client_id=str(message.pk))

    [file] = alice.client.get(f"/api/files/{message.pk}").json()

    assert file["name"] == "sea.txt"


def test_it_is_found_by_its_own_id_as_before(alice: Persona) -> None:
    sea = talk(alice.user)
    question = add(sea, "How deep?", client_id=str(uuid4()))
    add(sea, "Very.")

    path = f"/api/conversations/{sea.pk}"
    shown = alice.client.patch(path, {"active_leaf_id": str(question.pk)}, format="json")

    assert shown.json()["active_leaf_id"] == str(question.pk)


def test_a_message_without_a_reply_cannot_be_stopped(alice: Persona) -> None:
    sea = talk(alice.user)
    add(sea, "How deep?", client_id=OF_THE_SDK)
    path = f"/api/conversations/{sea.pk}/messages/{OF_THE_SDK}"
    assert alice.client.post(f"{path}/stop").status_code == 404
    assert alice.client.get(f"{path}/stream").status_code == 404


# --- Whose it is ---------------------------------------------------------------------------------


def test_an_id_of_another_conversation_or_user_is_as_good_as_a_new_one(speaker: NewSpeaker) -> None:
    alice, bob = speaker(), speaker(name="bob")
    theirs = bob.begin()
    bob.send(theirs, id=OF_THE_SDK)
    [asked, _] = bob.detail(theirs)["messages"]
    first, second = alice.begin(), alice.begin()

    for conversation, message_id in [
        (first, OF_THE_SDK),
        (second, OF_THE_SDK),
        (first, asked["id"]),
    ]:
        assert post(alice, conversation, id=message_id, content=alice.words()).status_code == 200

    shown = [each["client_id"] for each in alice.detail(first)["messages"]]
    assert shown == [OF_THE_SDK, None, asked["id"], None]


def test_a_message_of_another_conversation_is_not_found_by_it(alice: Persona) -> None:
    add(talk(alice.user), "How deep?", client_id=OF_THE_SDK)
    path = f"/api/conversations/{talk(alice.user, 'How high?', 'Very.').pk}"

    followed = {"content": "Hi", "parent_id": OF_THE_SDK}
    answers = [
        alice.client.post(f"{path}/messages", followed, format="json"),
        alice.client.post(f"{path}/messages/{OF_THE_SDK}/regenerate"),
        alice.client.post(f"{path}/messages/{OF_THE_SDK}/stop"),
        alice.client.get(f"{path}/messages/{OF_THE_SDK}/stream"),
        alice.client.patch(path, {"active_leaf_id": OF_THE_SDK}, format="json"),
    ]

    assert [answer.status_code for answer in answers] == [404] * 5


@pytest.mark.parametrize("field", ["id", "parent_id"])
@pytest.mark.parametrize("message_id", MALFORMED)
def test_a_malformed_one_is_refused(alice: Persona, field: str, message_id: object) -> None:
    path = f"/api/conversations/{talk(alice.user).pk}/messages"
    answer = alice.client.post(path, {"content": "Hi", field: message_id}, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, [field])


# --- Sent again ----------------------------------------------------------------------------------


def test_the_same_message_is_answered_once(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    body: Shape = {"id": OF_THE_SDK, "content": alice.words(), "parent_id": None}
    first = alice.send(conversation, **body)

    with alice.stream("POST", f"/{conversation}/messages", **body) as stream:
        again = stream.to_the_end()

    assert stream.response.headers["idempotency-replayed"] == "true"
    assert (again.reply_id, again.text, again.usage) == (first.reply_id, first.text, first.usage)
    assert len(alice.detail(conversation)["messages"]) == 2
    assert len(alice.calls()) == 1


def test_while_its_reply_is_written_a_client_is_asked_to_wait(speaker: NewSpeaker) -> None:
    alice = speaker()
    path = f"/{alice.begin()}/messages"
    body: Shape = {"id": OF_THE_SDK, "content": alice.words(tokens=20, delay_ms=30)}
    with alice.stream("POST", path, **body) as stream:
        stream.until("start")
        answer = alice.ask("POST", path, **body)
        assert code(answer) == (409, "idempotency_in_progress")
        assert answer.headers["retry-after"] == "1"
        stream.to_the_end()


def test_one_whose_reply_failed_and_cost_nothing_is_answered_anew(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    body = {"id": OF_THE_SDK, "content": alice.words(status=400, times=1)}
    failed = alice.send(conversation, **body)

    heard = alice.send(conversation, **body)

    asked, *replies = alice.detail(conversation)["messages"]
    assert [each["id"] for each in replies] == [failed.reply_id, heard.reply_id]
    assert [each["status"] for each in replies] == ["failed", "completed"]
    assert {each["parent_id"] for each in replies} == {asked["id"]}


def test_one_whose_reply_was_deleted_is_answered_only_on_purpose(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    body = {"id": OF_THE_SDK, "content": alice.words()}
    first = alice.send(conversation, **body)
    path = f"/{conversation}/messages"
    assert alice.ask("DELETE", f"{path}/{first.reply_id}").status_code == 204

    assert code(post(alice, conversation, **body)) == (404, "reply_deleted")

    assert len(alice.calls()) == 1
    with alice.stream("POST", f"{path}/{OF_THE_SDK}/regenerate") as stream:
        assert stream.to_the_end().usage
    assert len(alice.detail(conversation)["messages"]) == 2


@pytest.mark.parametrize(
    "other", [{"content": "Other words."}, {"parent_id": "the first reply"}, {"upload_ids": True}]
)
def test_another_message_of_that_id_is_refused(speaker: NewSpeaker, other: dict[str, Any]) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation)
    body = {"id": OF_THE_SDK, "content": alice.words(), "parent_id": None}
    alice.send(conversation, **body)
    before = alice.detail(conversation)
    if "parent_id" in other:
        other = {"parent_id": first.reply_id}
    if "upload_ids" in other:
        upload = Upload.objects.create(
            account=alice.user, name="a.txt", media_type="text/plain", is_text=True, size=7
        )
        other = {"upload_ids": [str(upload.pk)]}

    assert code(post(alice, conversation, **(body | other))) == (409, "message_exists")
    assert alice.detail(conversation) == before


def test_a_message_has_not_the_own_id_of_another(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.")
    path = f"/api/conversations/{sea.pk}/messages"
    for message in sea.messages.all():
        body = {"id": str(message.pk), "content": "Hi"}
        answer = alice.client.post(path, body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (409, "message_exists")


@pytest.mark.parametrize("place", [{}, {"parent_id": None}], ids=["at the end", "at the root"])
@pytest.mark.parametrize("has_ended", [False, True], ids=["running", "ended"])
def test_two_at_the_same_moment_are_one(user: User, place: Shape, has_ended: bool) -> None:
    conversation = talk(user)
    prepared_replies = [
        prepare_message(
            user,
            get_conversation(user, conversation.pk),
            content="Hi",
            client_id=OF_THE_SDK,
            **place,
        )
        for _ in range(2)
    ]
    owner = bank.live_owner()
    started = sending.start(
        prepared=prepared_replies[0], request_key=None, owner_id=owner, request_id="req_test"
    )
    assert isinstance(started, sending.StartedReply)
    call = manual.Call(started, owner)
    if has_ended:
        call.settle("Hello.")

    with pytest.raises(IdempotencyInProgress):
        sending.start(
            prepared=prepared_replies[1], request_key=None, owner_id=owner, request_id="req_test"
        )

    assert Message.objects.filter(conversation=conversation, role=USER).count() == 1
    if not has_ended:
        call.settle("Hello.")


# --- Edited --------------------------------------------------------------------------------------


def test_an_edited_message_takes_the_place_of_the_first(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    alice.send(conversation, alice.words("sea " * 1000), id=OF_THE_SDK)

    edited = alice.send(conversation, alice.words("Hi"), id="the-second-words", parent_id=None)

    assert edited.metadata["context"]["messages"] == 1
    assert edited.usage["input_tokens"] < 100
    assert code(post(alice, conversation, id=OF_THE_SDK, content="Hi", parent_id=None)) == (
        409,
        "message_exists",
    )
