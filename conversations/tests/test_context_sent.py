"""What the provider is sent, as its journal tells, and what the message says of it."""

from typing import Any

import pytest

from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import Speaker


def _upload(speaker: Speaker, name: str, data: bytes) -> dict[str, Any]:
    answer = speaker.http.post(
        "/api/uploads", files={"file": (name, data)}, headers=speaker.headers
    )
    assert answer.status_code == 201, answer.text
    upload: dict[str, Any] = answer.json()
    return upload


def _prompt_tokens(speaker: Speaker) -> list[int]:
    """One word is one token there."""
    return [call["prompt_tokens"] for call in speaker.calls()]


def test_files_are_sent_after_the_text_they_go_with(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    notes = _upload(alice, "notes.md", b"The sea is deep.")
    picture = _upload(alice, "cat.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")

    heard = alice.send(
        conversation, "Read.\n" + alice.words(), upload_ids=[notes["id"], picture["id"]]
    )

    [call] = alice.calls()
    assert 'type="text/' in call["user_text"]
    assert [
        (file["name"], file["characters"]) for file in heard.metadata["context"]["attachments"]
    ] == [
        ("notes.md", 16),
        ("cat.png", None),
    ]


def test_a_file_is_sent_again_with_what_follows(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    notes = _upload(alice, "notes.txt", b"deep " * 500)
    alice.send(conversation, upload_ids=[notes["id"]])

    heard = alice.send(conversation)

    first, second = _prompt_tokens(alice)
    assert 500 < first < second
    assert [file["id"] for file in heard.metadata["context"]["attachments"]] == [notes["id"]]


def test_a_file_may_be_all_that_is_said(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    notes = _upload(alice, "notes.txt", alice.words("deep").encode())

    heard = alice.send(conversation, " \n", upload_ids=[notes["id"]])

    [call] = alice.calls()
    assert call["user_text"].startswith("<attachment")
    assert heard.of("data-title") == []
    detail = alice.detail(conversation)
    assert (detail["title"], detail["messages"][0]["content"]) == ("notes.txt", "")


def test_instructions_are_sent(speaker: NewSpeaker) -> None:
    alice = speaker()
    space = alice.http.post(
        "/api/spaces", json={"name": "Sea", "instructions": "ahoy " * 300}, headers=alice.headers
    ).json()
    alice.send(alice.begin())
    alice.send(alice.begin(space_id=space["id"], system="brief " * 200))

    bare, instructed = _prompt_tokens(alice)

    assert instructed - bare >= 500


def test_the_oldest_are_not_sent_where_the_free_plans_window_is_full(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=0)
    conversation = alice.begin()
    for _ in range(3):
        heard = alice.send(conversation, "sea " * 2_500 + "\n" + alice.words())

    context = heard.metadata["context"]

    assert (context["messages"], context["omitted"]) == (3, 2)
    _, second, third = _prompt_tokens(alice)
    assert third == second
    assert alice.message(conversation, heard.reply_id)["context"] == context


def test_a_message_that_is_too_long_for_the_free_plan_is_refused(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=0)
    conversation = alice.begin()

    answer = alice.ask("POST", f"/{conversation}/messages", content="sea " * 10_000)

    assert answer.status_code == 422
    refusal = answer.json()
    assert refusal["code"] == "input_too_long"
    assert "other plans allow more" in refusal["errors"][0]["msg"]
    assert alice.detail(conversation)["messages"] == []


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "gemini-3.1-pro-preview", "gpt-6-luna"])
def test_what_a_model_refused_without_a_word_is_not_sent_again(
    speaker: NewSpeaker, model: str
) -> None:
    alice = speaker()
    conversation = alice.begin(model=model)
    refused = alice.send(conversation, alice.words("Forbidden!", refusal=True, tokens=0))

    context = alice.send(conversation).metadata["context"]

    assert alice.message(conversation, refused.reply_id)["error"]["code"] == "no_text"
    assert (context["messages"], context["omitted"]) == (1, 1)
