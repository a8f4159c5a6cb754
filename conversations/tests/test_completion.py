"""How a reply ends: text, status, charge, counts and events in one transaction, once."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import msgspec
import psycopg
import pytest
from django.db import connection

from accounts.models import User
from ai.generations.endings import give_up, release_readers
from ai.generations.types import Completion, Piece
from ai.inference.errors import CallCancelled, UpstreamFailed
from billing.tests import bank
from billing.types import Ending
from common.errors import NotFound
from conversations.errors import ReplyRunning
from conversations.models import Conversation, Message
from conversations.services import conversations as conversation_services
from conversations.services import stopping
from conversations.services.completion import REPLY
from conversations.tests import manual
from conversations.tests.rows import talk
from events.models import Event
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url
from work.jobs import services as jobs
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("providers")

STOPPED = Completion(content="Deep", failure=CallCancelled())


@pytest.fixture
def user(committed: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def events_of(reply_id: UUID) -> list[tuple[str, Any]]:
    """The events of a reply, with their data."""
    log = Event.objects.filter(stream=reply_id).order_by("seq")
    return [(event.type, json.loads(event.data)) for event in log]


def written(message: Any) -> Any:
    """A message as it stands in an event."""
    return msgspec.json.decode(msgspec.json.encode(message))


def test_what_the_log_lacks_comes_before_the_end(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.write(Piece("reasoning", "Hm. "), Piece("text", "De"))
    untold = call.deltas(Piece("text", "ep."), offset=6)
    said = Completion(content="Deep.", reasoning="Hm. ", finish_reason="stop", unsent=untold)
    ending = Ending(call.id, user.pk, "settled", manual.COST, {"tokens_in": 5, "tokens_out": 10})
    ended = call.conclude(ending, said)
    *deltas, (last, data) = events_of(call.id)
    assert [(each["offset"], each["kind"], each["text"]) for _, each in deltas] == [
        (0, "reasoning", "Hm. "),
        (4, "text", "De"),
        (6, "text", "ep."),
    ]
    assert (last, data["message"]) == ("reply.ended", written(ended.view))
    assert (data["message"]["status"], data["message"]["usage"]["output_tokens"]) == (
        "completed",
        10,
    )
    assert not {"content", "reasoning"} & data["message"].keys()
    reply = call.reply
    assert (reply.content, reply.reasoning) == ("Deep.", "Hm. ")
    assert Job.objects.get(pk=call.id).status == "completed"


def test_an_end_that_is_repeated_is_one_end(user: User) -> None:
    call = manual.begin(user, talk(user))
    first = call.settle("Deep.")
    again = call.settle("Deep.")
    assert (first.resolution.moved, again.resolution.moved) == (True, False)
    assert again.view == first.view
    assert len(events_of(call.id)) == 1
    row = Conversation.objects.get(pk=call.started.reply.conversation_id)
    assert row.characters == len("Hi") + len("Deep.")


def test_a_charge_that_somebody_else_has_ended_fails_the_reply(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.save()
    bank.expire(call.id)
    call.settle("Deep.")
    reply = call.reply
    assert (reply.status, reply.content) == ("failed", "Deep.")
    assert reply.error is not None
    assert reply.error["code"] == "interrupted"
    assert bank.charge_of(call.id).cost == manual.COST


@pytest.mark.parametrize("ending", ["conclude", "give_up"])
def test_a_process_that_has_lost_the_job_leaves_the_next_attempt_its_hold(
    user: User, ending: str
) -> None:
    call = manual.begin(user, talk(user))
    jobs.start_again(job_id=call.id, attempt=1, max_losses=3)

    if ending == "conclude":
        assert not call.settle("Deep.").resolution.moved
    else:
        give_up(REPLY, call_id=call.id, attempt=1, failure=UpstreamFailed())

    assert bank.charge_of(call.id).status == "held"
    assert (call.reply.status, Job.objects.get(pk=call.id).status) == ("running", "queued")
    assert events_of(call.id) == []
    # The next attempt ends it.
    Job.objects.filter(pk=call.id).update(status=Job.Status.RUNNING)
    call.settle("Deep.")
    assert bank.charge_of(call.id).status == "settled"


def test_a_reply_whose_process_died_keeps_what_its_log_has(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.write(Piece("reasoning", "Hm. "), Piece("text", "De"))
    call.write(Piece("text", "ep"), offset=6)
    call.save()
    call.die()
    reply = call.reply
    assert (reply.status, reply.content, reply.reasoning) == ("failed", "Deep", "Hm. ")
    assert reply.error is not None
    assert reply.error["code"] == "interrupted"
    charge = bank.charge_of(call.id)
    assert (charge.status, charge.cost) == ("expired", manual.COST)
    kind, data = events_of(call.id)[-1]
    assert (kind, data["message"]["status"]) == ("reply.ended", "failed")
    assert data["message"]["usage"]["listed_usd"] > 0


def test_what_its_process_is_just_telling_is_kept_too(user: User) -> None:
    """It was not dead, but slow."""
    call = manual.begin(user, talk(user))
    call.write(Piece("text", "De"))
    [last] = call.deltas(Piece("text", "ep"), offset=2)
    item = {"job": call.id, "attempt": 1, "number": 1, "stream": call.id, "events": [last]}

    def give_up() -> None:
        try:
            call.die()
        finally:
            connection.close()

    with psycopg.connect(database_url()) as process, ThreadPoolExecutor(1) as sweep:
        process.execute("SELECT job_append(%s)", (msgspec.json.encode([item]).decode(),))
        given_up = sweep.submit(give_up)
        wait_until_blocked(process)
        process.commit()
        given_up.result()
    assert call.reply.content == "Deep"


def test_one_that_died_before_any_output_costs_nothing(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.die()
    assert (call.reply.status, call.reply.content) == ("failed", "")
    assert bank.charge_of(call.id).status == "released"


def test_one_that_was_stopped_before_its_process_died_is_cancelled(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.write(Piece("text", "Deep"))
    call.save()
    stopping.stop(user=user, conversation_id=call.reply.conversation_id, message_id=call.id)
    call.die()
    reply = call.reply
    assert (reply.status, reply.content, reply.error) == ("cancelled", "Deep", None)
    assert Job.objects.get(pk=call.id).status == "cancelled"
    assert bank.charge_of(call.id).cost == manual.COST


def test_a_process_that_was_thought_dead_changes_nothing_any_more(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.die()
    call.settle("Deep.")
    assert (call.reply.status, call.reply.content) == ("failed", "")
    assert len(events_of(call.id)) == 1


def test_a_reply_that_has_ended_is_not_ended_as_lost(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.settle("Deep.")
    call.die()
    assert (call.reply.status, call.reply.content) == ("completed", "Deep.")


def test_the_next_message_may_come_when_the_process_has_died(user: User) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation)
    with pytest.raises(ReplyRunning):
        manual.begin(user, conversation)
    call.die()
    manual.begin(user, conversation, "Again").settle("Deep.")


@pytest.mark.parametrize("how", ["settle", "release", "die"])
def test_a_reply_of_a_deleted_conversation_ends_all_the_same(user: User, how: str) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation)
    conversation_services.delete(user=user, conversation_id=conversation.pk)
    assert Job.objects.get(pk=call.id).signal == "cancel"
    if how == "settle":
        assert call.settle("Deep.", CallCancelled()).view is None
    elif how == "release":
        call.release(CallCancelled())
    else:
        call.die()
    assert Job.objects.get(pk=call.id).ended_at is not None
    assert bank.charge_of(call.id).status in ("settled", "released")
    assert events_of(call.id) == [("reply.ended", {"message": None})]
    assert not Message.objects.filter(pk=call.id).exists()


@pytest.mark.parametrize("is_deleted", [False, True], ids=["there", "deleted"])
@pytest.mark.parametrize("how", ["settle", "release", "die"])
def test_one_whose_readers_were_released_ends_its_charge_and_its_job_and_nothing_else(
    user: User, how: str, is_deleted: bool
) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation)
    if is_deleted:
        conversation_services.delete(user=user, conversation_id=conversation.pk)
    message = release_readers(REPLY, call_id=call.id, attempt=1, completion=STOPPED)
    assert (message is None) == is_deleted
    assert events_of(call.id) == [("reply.ended", {"message": written(message)})]
    if not is_deleted:
        assert (call.reply.status, call.reply.content) == ("cancelled", "Deep")
    job = Job.objects.get(pk=call.id)
    assert (job.status, bank.charge_of(call.id).status) == ("running", "held")
    before = list(Message.objects.filter(conversation=conversation.pk).order_by("id").values())
    row = Conversation.objects.filter(pk=conversation.pk).values().first()
    if how == "settle":
        call.settle("Deep.", CallCancelled())
    elif how == "release":
        call.release(UpstreamFailed())
    else:
        call.die()
    assert Job.objects.get(pk=call.id).ended_at is not None
    assert bank.charge_of(call.id).status == ("settled" if how == "settle" else "released")
    assert len(events_of(call.id)) == 1
    after = list(Message.objects.filter(conversation=conversation.pk).order_by("id").values())
    assert after == before
    assert Conversation.objects.filter(pk=conversation.pk).values().first() == row


def test_no_reader_is_released_by_a_process_that_was_thought_dead(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.die()
    message = release_readers(REPLY, call_id=call.id, attempt=1, completion=STOPPED)
    assert message is not None
    assert message["status"] == call.reply.status == "failed"
    assert len(events_of(call.id)) == 1


def test_a_message_to_a_deleted_conversation_is_not_found(user: User) -> None:
    conversation = talk(user)
    conversation_services.delete(user=user, conversation_id=conversation.pk)
    with pytest.raises(NotFound):
        manual.begin(user, conversation)


def test_a_reply_that_failed_says_why(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.release(UpstreamFailed())
    assert call.reply.status == "failed"
    assert call.reply.error == {"code": "upstream_error", "message": UpstreamFailed.message}
    assert call.reply.finish_reason == ""


def test_an_end_moves_the_conversation_to_the_top(user: User) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation)
    other = talk(user, "Later")
    call.settle("Deep.")
    first = Conversation.objects.filter(account=user).order_by("-activity").first()
    assert first is not None
    assert (first.pk, other.pk) == (conversation.pk, other.pk)


def test_the_branch_that_the_user_looks_at_stays(user: User) -> None:
    conversation = talk(user, "One", "Two")
    shown = conversation.leaf_id
    call = manual.begin(user, conversation)
    Conversation.objects.filter(pk=conversation.pk).update(leaf=shown)
    call.settle("Deep.")
    assert Conversation.objects.get(pk=conversation.pk).leaf_id == shown
