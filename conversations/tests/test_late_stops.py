"""A stop that comes when its reply is complete already, or cannot begin any more."""

import asyncio
import json

import psycopg
import pytest

from ai.inference.runtime import get_runtime
from conversations.replies.answers import frames_of
from conversations.replies.running import Reply
from conversations.services import stopping
from conversations.tests import manual
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import talk
from conversations.tests.speaker import BALANCE_ONLY
from conversations.tests.test_stop import settled, stop
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url


def test_a_reply_that_is_complete_is_not_told_as_cancelled(speaker: NewSpeaker) -> None:
    """Its end waits for the wallet."""
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY, title="Mine")
    content = alice.words(tokens=5, delay_ms=200)
    with (
        alice.stream("POST", f"/{conversation}/messages", content=content) as stream,
        psycopg.connect(database_url()) as holder,
    ):
        stream.until("text-delta")
        holder.execute(
            "SELECT 1 FROM billing_wallet WHERE account_id = %s FOR UPDATE", [alice.user.pk]
        )
        wait_until_blocked(holder)
        assert stop(alice, conversation, stream.heard.reply_id) == 202
        heard = stream.to_the_end()
    assert heard.finish["finishReason"] == "stop"
    assert heard.finish["messageMetadata"]["status"] == "completed"
    settled(alice, heard.reply_id)
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["finish_reason"]) == ("completed", "stop")
    assert reply["content"] == heard.text != ""


@pytest.mark.usefixtures("committed", "providers")
def test_a_reply_that_cannot_begin_any_more_is_told_as_it_is_stored() -> None:
    """Its process ends between the transaction and the call."""
    alice = new_user("alice", plan="max", balance_usd=5)
    call = manual.begin(alice, talk(alice))
    stopping.stop(user=alice, conversation_id=call.reply.conversation_id, message_id=call.id)
    reply = Reply(call.started)

    async def run() -> bytes:
        get_runtime().refuse()
        running = asyncio.create_task(reply.run())
        received = b"".join([frame async for frame in frames_of(reply)])
        await running
        return received

    *_, finish, done, _ = asyncio.run(run()).decode().split("\n\n")
    assert done.endswith("data: [DONE]")
    received = json.loads(finish.split("data: ")[1])
    assert (received["type"], received["messageMetadata"]["status"]) == ("finish", "cancelled")
    assert (call.reply.status, call.reply.error) == ("cancelled", None)
