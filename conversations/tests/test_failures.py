"""Replies whose calls fail: said in the stream and in the message, and billed by what came."""

from typing import Any

import pytest

from billing.models import Charge
from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import THINKER


@pytest.mark.parametrize(
    ("steering", "code"),
    [
        ({"status": 500}, "upstream_error"),
        ({"drop": True}, "upstream_error"),
        ({"status": 400}, "invalid_body"),
        ({"blocked": True}, "content_blocked"),
    ],
    ids=["500", "drop", "400", "blocked"],
)
def test_before_any_output_nothing_is_billed(
    speaker: NewSpeaker, steering: dict[str, Any], code: str
) -> None:
    alice = speaker()
    conversation = alice.begin()
    heard = alice.send(conversation, alice.words(**steering))
    [error] = heard.of("error")
    assert (error["code"], bool(error["errorText"])) == (code, True)
    assert heard.finish["finishReason"] == "error"
    assert heard.finish["usage"] is None
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["content"], reply["usage"]) == ("failed", "", None)
    assert reply["error"].items() >= {"code": code, "message": error["errorText"]}.items()
    assert alice.charge(heard.reply_id).status == "released"


@pytest.mark.parametrize("steering", [{"status": 400}, {"blocked": True}], ids=["400", "blocked"])
def test_a_refusal_of_the_provider_says_what_can_be_done(
    speaker: NewSpeaker, steering: dict[str, Any]
) -> None:
    alice = speaker()
    conversation = alice.begin()
    heard = alice.send(conversation, alice.words(**steering))
    error = alice.message(conversation, heard.reply_id)["error"]
    assert "Nothing was billed; change it or choose another model." in error["message"]
    assert error["provider_message"] not in ("", error["message"])


def test_after_output_what_came_is_kept_and_billed(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    heard = alice.send(conversation, alice.words(text="one " * 9, fail="after", after_tokens=4))
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["error"]["code"]) == ("failed", "upstream_error")
    assert reply["content"] == heard.text != ""
    assert heard.usage == reply["usage"]
    assert heard.usage["output_tokens"] == 4
    assert heard.types.index("error") < heard.types.index("finish")
    assert heard.types.index("text-end") < heard.types.index("error")


def test_an_answer_without_a_word_has_failed_and_is_billed(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=THINKER)
    heard = alice.send(conversation, alice.words(tokens=0, reasoning_tokens=7))
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["error"]["code"]) == ("failed", "no_text")
    assert (Charge.objects.get(pk=heard.reply_id).failure or {})["code"] == "no_text"
    assert reply["reasoning"] == heard.reasoning != ""
    assert heard.usage["reasoning_tokens"] == 7
    assert heard.finish["finishReason"] == "error"


@pytest.mark.parametrize(
    ("steering", "status", "code"),
    [
        ({"status": 500}, 502, "upstream_error"),
        ({"drop": True}, 502, "upstream_error"),
        ({"status": 400}, 400, "invalid_body"),
        ({"blocked": True}, 400, "content_blocked"),
    ],
    ids=["500", "drop", "400", "blocked"],
)
def test_without_a_stream_a_failure_before_any_output_is_an_error(
    speaker: NewSpeaker, steering: dict[str, Any], status: int, code: str
) -> None:
    alice = speaker()
    conversation = alice.begin()
    body = {"content": alice.words(**steering), "stream": False}
    answer = alice.ask("POST", f"/{conversation}/messages", **body)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    asked, reply = alice.detail(conversation)["messages"]
    assert (asked["status"], reply["status"]) == ("completed", "failed")
    assert reply["error"]["message"] == answer.json()["detail"]


def test_without_a_stream_the_message_says_what_failed_and_was_billed(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(text="one " * 9, fail="after", after_tokens=4)
    body = alice.do("POST", f"/{conversation}/messages", content=content, stream=False)
    _, reply = alice.detail(conversation)["messages"]
    assert body["message"] == reply
    assert (reply["status"], body["usage"]["output_tokens"]) == ("failed", 4)


def test_the_conversation_goes_on_after_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    failed = alice.send(conversation, alice.words(status=500))
    path = f"/{conversation}/messages/{failed.reply_id}/regenerate"
    assert alice.ask("POST", path, stream=False).status_code == 502
    heard = alice.send(conversation, alice.words("And now?"))
    assert heard.finish["finishReason"] == "stop"
    # Both of the user's words, which nobody has answered, are in it.
    assert heard.metadata["context"]["messages"] == 2
