"""Who asks in a shared space pays: the hold, the plan, the limits and the keys of requests are
theirs."""

from typing import Any
from uuid import uuid4

from billing.models import Charge, Wallet
from conversations.models import Message, Space
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import ASSISTANT, add
from conversations.tests.sharers import put_together
from conversations.tests.speaker import BALANCE_ONLY, Speaker


def together(speaker: NewSpeaker, **of_bob: Any) -> tuple[Speaker, Speaker, str]:
    alice, bob = speaker(), speaker(name="bob", **of_bob)
    put_together(alice.user, bob.user)
    space = Space.objects.create(account=alice.user, name="Sea", shared="write")
    return alice, bob, alice.begin(title="The sea", space_id=str(space.pk))


def balance(person: Speaker) -> int:
    wallet = Wallet.objects.get(account=person.user)
    assert wallet.held == 0
    return wallet.balance


def test_a_member_s_reply_is_on_the_member_s_wallet(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    hers, his = balance(alice), balance(bob)
    heard = bob.send(conversation, model=BALANCE_ONLY)
    charge = bob.charge(heard.reply_id)
    assert (charge.account, charge.status) == (bob.user, Charge.Status.SETTLED)
    assert balance(alice) == hers
    assert balance(bob) == his - charge.charge_balance
    assert charge.charge_balance > 0
    assert alice.charges() == []


def test_each_pays_for_what_they_ask_in_one_conversation(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    first = alice.send(conversation)
    second = bob.send(conversation)
    again = bob.do("POST", f"/{conversation}/messages/{first.reply_id}/regenerate", stream=False)
    assert [charge.pk.hex for charge in alice.charges()] == [first.reply_id.replace("-", "")]
    assert {str(charge.pk) for charge in bob.charges()} == {
        second.reply_id,
        again["message"]["id"],
    }
    owner = {message.account_id for message in Message.objects.filter(conversation_id=conversation)}
    assert owner == {alice.user.pk}


def test_what_a_reply_has_cost_is_shown_to_who_has_paid_it(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    heard = bob.send(conversation)
    assert heard.usage["listed_usd"] > 0
    shown = bob.message(conversation, heard.reply_id)
    assert shown["usage"] == heard.usage
    assert alice.message(conversation, heard.reply_id) == {**shown, "usage": None}


def test_a_reader_of_the_stream_is_not_told_the_cost(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    content = bob.words(tokens=20, delay_ms=50)
    with bob.stream("POST", f"/{conversation}/messages", content=content) as asked:
        asked.until("text-delta")
        with alice.stream("GET", f"/{conversation}/stream") as read:
            heard = read.to_the_end()
        own = asked.to_the_end()
    assert heard.text == own.text
    assert own.usage["listed_usd"] > 0
    assert heard.usage is None


def test_who_cannot_pay_is_refused_whatever_the_owner_has(speaker: NewSpeaker) -> None:
    _, bob, conversation = together(speaker, balance_usd=0)
    body: dict[str, Any] = {"content": bob.words(), "model": BALANCE_ONLY}
    answer = bob.ask("POST", f"/{conversation}/messages", **body)
    assert answer.status_code == 402
    assert answer.json()["detail"]["code"] == "insufficient_balance"
    assert not Message.objects.filter(conversation_id=conversation).exists()


def test_the_free_plan_of_a_member_is_the_member_s(speaker: NewSpeaker) -> None:
    _, bob, conversation = together(speaker, plan="free", balance_usd=0)
    refused = bob.ask("POST", f"/{conversation}/messages", content=bob.words(), model=BALANCE_ONLY)
    assert refused.json()["detail"]["code"] == "free_model_locked"
    heard = bob.send(conversation)
    assert bob.charge(heard.reply_id).funding == "platform"


def test_a_key_of_a_request_is_its_sender_s(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    key = {"Idempotency-Key": uuid4().hex}
    path = f"/{conversation}/messages"
    body: dict[str, Any] = {"content": "How deep?", "stream": False}
    his = bob.ask("POST", path, key, **body)
    again = bob.ask("POST", path, key, **body)
    hers = alice.ask("POST", path, key, **body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["message"]["id"] == his.json()["message"]["id"]
    assert "Idempotency-Replayed" not in hers.headers
    assert hers.json()["message"]["id"] != his.json()["message"]["id"]


def test_an_id_of_a_message_is_not_taken_over_by_another_member(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    body: dict[str, Any] = {"content": "How deep?", "id": uuid4().hex, "stream": False}
    alice.do("POST", f"/{conversation}/messages", **body)
    answer = bob.ask("POST", f"/{conversation}/messages", **body)
    assert (answer.status_code, answer.json()["code"]) == (409, "message_exists")


def test_a_member_attaches_files_of_their_own_and_no_others(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)

    def upload(person: Speaker) -> str:
        files = {"file": ("sea.txt", b"The sea is deep.")}
        answer = person.http.post("/api/uploads", files=files, headers=person.headers)
        return str(answer.json()["id"])

    path = f"/{conversation}/messages"
    body = {"content": bob.words(), "upload_ids": [upload(bob)], "stream": False}
    sent = bob.do("POST", path, **body)["user_message"]
    [file] = alice.http.get(f"/api/files/{sent['id']}", headers=alice.headers).json()
    assert alice.http.get(file["url"]).content == b"The sea is deep."
    foreign: dict[str, Any] = {**body, "upload_ids": [upload(alice)]}
    assert bob.ask("POST", path, **foreign).status_code == 422


def test_the_owner_stops_a_reply_of_a_member_s_who_pays_what_has_come(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    content = bob.words(tokens=60, delay_ms=50)
    with bob.stream("POST", f"/{conversation}/messages", content=content) as asked:
        asked.until("text-delta")
        reply_id = asked.heard.reply_id
        stopped = alice.ask("POST", f"/{conversation}/messages/{reply_id}/stop")
        assert stopped.status_code == 202
        heard = asked.to_the_end()
    assert heard.finish["finishReason"] == "other"
    assert bob.charge(reply_id).account == bob.user
    assert alice.charges() == []


def test_a_repeated_message_is_not_answered_again_because_another_member_s_reply_has_failed(
    speaker: NewSpeaker,
) -> None:
    _, bob, conversation = together(speaker)
    body: dict[str, Any] = {"content": bob.words(), "id": uuid4().hex, "stream": False}
    path = f"/{conversation}/messages"
    his = bob.do("POST", path, **body)
    question = Message.objects.get(pk=his["user_message"]["id"])
    # Of alice's, who pays nothing for it.
    add(question.conversation, "", role=ASSISTANT, parent=question, status="failed")
    again = bob.ask("POST", path, **body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["message"]["id"] == his["message"]["id"]
    assert [str(charge.pk) for charge in bob.charges()] == [his["message"]["id"]]
