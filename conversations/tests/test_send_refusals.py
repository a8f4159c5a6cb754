"""Why a message is refused: in JSON, before the first byte of a stream, and nothing stays."""

from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from accounts.models import User
from ai.provider_health.tests.opened import opened
from billing.models import Charge
from conversations.models import Conversation, Message
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import talk
from conversations.tests.speaker import BALANCE_ONLY, Speaker
from conversations.types import MAX_CHARACTERS, MAX_MESSAGES
from events.models import Stream
from tests.chaos.calls import wait_for
from work.jobs.models import Job

# The running service has no key of its provider.
NOBODYS = "01a20091-a6e1-7b03-807b-7610912cefae"
UNAVAILABLE = "mistral-medium-3.5"


def rows_of(user: User) -> list[int]:
    """How much there is of the user's."""
    return [
        Message.objects.filter(account_id=user.pk).count(),
        Charge.objects.filter(account=user).count(),
        Job.objects.filter(account=user).count(),
        Stream.objects.filter(account=user).count(),
    ]


def refused(person: Speaker, conversation: str, **body: Any) -> Any:
    """The refusal of a message, of which nothing stays."""
    before = rows_of(person.user)
    body.setdefault("content", person.words())
    answer = person.ask("POST", f"/{conversation}/messages", **body)
    assert not answer.is_success
    assert answer.headers["content-type"] == "application/json"
    assert rows_of(person.user) == before
    assert person.calls() == []
    return answer


def test_nobody_speaks_without_a_token(speaker: NewSpeaker) -> None:
    alice = speaker()
    answer = alice.http.post(f"/api/conversations/{alice.begin()}/messages", json={"content": "Hi"})
    assert answer.status_code == 401


@pytest.mark.parametrize("method", ["messages", "messages/{}/regenerate", "messages/{}/stop"])
def test_nobody_speaks_in_conversations_of_others(speaker: NewSpeaker, method: str) -> None:
    alice, bob = speaker(), speaker(name="bob")
    conversation = alice.begin()
    reply_id = alice.send(conversation).reply_id
    answer = bob.ask("POST", f"/{conversation}/{method.format(reply_id)}", content="Hi")
    assert answer.status_code == 404
    assert len(alice.detail(conversation)["messages"]) == 2


def test_what_is_not_there_comes_before_what_is_wrong(speaker: NewSpeaker) -> None:
    assert refused(speaker(), str(uuid4()), content="").status_code == 404


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"content": ""}, "content"),
        ({"content": " \n\t "}, "content"),
        ({"content": "\u200b\ufeff\u200d"}, "content"),
        ({"content": "", "upload_ids": []}, "content"),
        ({"content": None}, "content"),
        ({"content": 7}, "content"),
        ({"content": ["Hi"]}, "content"),
        ({"content": "a" * 100_001}, "content"),
        ({"content": "a" * 400_000}, "content"),
        ({"model": "no-such-model"}, "model"),
        ({"model": "text-embedding-3-small"}, "model"),
        ({"model": 7}, "model"),
        ({"parent_id": "no uuid"}, "parent_id"),
        ({"parent_id": 7}, "parent_id"),
        ({"parent_id": False}, "parent_id"),
        ({"upload_ids": "no list"}, "upload_ids"),
        ({"upload_ids": [NOBODYS] * 11}, "upload_ids"),
        ({"upload_ids": [NOBODYS]}, "upload_ids"),
        ({"reasoning_effort": "huge"}, "reasoning_effort"),
        ({"stream": "yes"}, "stream"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_value_that_is_not_allowed_is_named(
    speaker: NewSpeaker, body: dict[str, Any], loc: str
) -> None:
    alice = speaker()
    answer = refused(alice, alice.begin(), **body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][0] == loc


def test_a_body_without_content_is_refused(speaker: NewSpeaker) -> None:
    alice = speaker()
    answer = alice.ask("POST", f"/{alice.begin()}/messages")
    assert answer.status_code == 422


def test_a_parent_is_a_message_of_the_conversation(speaker: NewSpeaker) -> None:
    alice = speaker()
    other = alice.do("POST", "")["id"]
    elsewhere = talk(alice.user, "Hello", "Hi").leaf_id
    for parent in (str(uuid4()), str(elsewhere)):
        answer = refused(alice, other, parent_id=parent)
        assert answer.status_code == 404
        assert "parent_id" in answer.json()["detail"]


def test_a_model_that_was_retired_meanwhile_is_refused(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    Conversation.objects.filter(pk=conversation).update(model="gone-by-now")
    answer = refused(alice, conversation)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["model"]


def test_a_provider_that_is_not_configured_is_named_before_money(speaker: NewSpeaker) -> None:
    penniless = speaker(plan="starter", balance_usd=0)
    answer = refused(penniless, penniless.begin(), model=UNAVAILABLE)
    assert answer.status_code == 503
    assert answer.json()["code"] == "provider_unavailable"


def test_a_provider_that_is_spared_is_named_before_money_and_for_how_long(
    speaker: NewSpeaker,
) -> None:
    penniless = speaker(plan="starter", balance_usd=0)
    conversation = penniless.begin()

    def answer() -> Any:
        return refused(penniless, conversation, model=BALANCE_ONLY)

    with opened("moonshot", BALANCE_ONLY):
        wait_for(lambda: answer().status_code == 503)
        assert answer().json()["code"] == "provider_unavailable"
        assert 1 <= int(answer().headers["retry-after"]) <= 60
    wait_for(lambda: answer().status_code == 402)


def test_without_money_nothing_is_asked(speaker: NewSpeaker) -> None:
    penniless = speaker(balance_usd=0)
    answer = refused(penniless, penniless.begin(), model=BALANCE_ONLY)
    assert answer.status_code == 402
    detail = answer.json()["detail"]
    assert detail["code"] == "insufficient_balance"
    assert {"model_key", "plan", "balance_usd", "needed_usd", "message"} <= detail.keys()


def test_without_a_stream_it_is_refused_all_the_same(speaker: NewSpeaker) -> None:
    penniless = speaker(balance_usd=0)
    answer = refused(penniless, penniless.begin(), model=BALANCE_ONLY, stream=False)
    assert answer.status_code == 402


@pytest.mark.parametrize(
    "full",
    [{"messages_count": MAX_MESSAGES - 1}, {"characters": MAX_CHARACTERS - 1}],
    ids=["messages", "characters"],
)
def test_a_conversation_that_is_full_takes_no_more(
    speaker: NewSpeaker, full: dict[str, int]
) -> None:
    alice = speaker()
    conversation = alice.begin()
    Conversation.objects.filter(pk=conversation).update(**full)
    answer = refused(alice, conversation)
    assert answer.status_code == 409
    assert answer.json()["code"] == "conversation_full"


def test_a_conversation_counts_its_messages_and_characters(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(text="Deep.")
    first = alice.send(conversation, content)
    alice.do("POST", f"/{conversation}/messages/{first.reply_id}/regenerate", stream=False)
    row = Conversation.objects.get(pk=conversation)
    assert (row.messages_count, row.characters) == (3, len(content) + 2 * len("Deep."))


def test_too_much_at_once_is_refused(speaker: NewSpeaker, settings: Settings) -> None:
    alice = speaker()
    conversation = alice.begin()
    Job.objects.bulk_create(
        Job(kind="nobody.does", queue="interactive", account=alice.user)
        for _ in range(settings.MAX_RUNNING_CALLS)
    )
    answer = refused(alice, conversation)
    assert answer.status_code == 429
    assert answer.json()["code"] == "too_many_runs"


def test_malformed_json_is_a_400(speaker: NewSpeaker) -> None:
    alice = speaker()
    url = f"/api/conversations/{alice.begin()}/messages"
    headers = alice.headers | {"Content-Type": "application/json"}
    assert alice.http.post(url, content=b'{"content": "', headers=headers).status_code == 400
    assert (
        alice.http.post(url, content=b'{"content": "\\u0000"}', headers=headers).status_code == 400
    )
