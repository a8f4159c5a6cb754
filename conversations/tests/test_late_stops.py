"""A stop that comes when its reply is complete, while the end waits for the wallet."""

import psycopg

from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import BALANCE_ONLY
from conversations.tests.test_stop import settled, stop
from tests.locks import wait_until_blocked
from tests.service import database_url


def test_a_reply_that_is_complete_is_not_told_as_cancelled(speaker: NewSpeaker) -> None:
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
