"""Which model answers, and how hard it thinks, where the message does not say."""

import pytest
from django.conf import settings

from accounts.models import ModelPreference
from accounts.selectors.preferences import list_agents
from ai.catalog.selectors import get_catalog
from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import Speaker

HAIKU, LUNA, FLASH = "claude-haiku-5-5", "gpt-6-luna", "gemini-3.8-flash"


def prefer(person: Speaker, model: str, **options: object) -> None:
    ModelPreference.objects.create(account=person.user, model=model, **options)


def test_a_message_names_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    prefer(alice, HAIKU, favourite=True)
    assert alice.send(alice.begin(model=LUNA), model=FLASH).metadata["model"] == FLASH


def test_else_the_conversation_does(speaker: NewSpeaker) -> None:
    alice = speaker()
    prefer(alice, HAIKU, favourite=True)
    assert alice.send(alice.begin(model=FLASH)).metadata["model"] == FLASH


def test_else_it_is_a_favourite_that_is_not_turned_off(speaker: NewSpeaker) -> None:
    alice = speaker()
    prefer(alice, HAIKU, favourite=True, enabled=False)
    prefer(alice, FLASH, favourite=True)
    assert alice.send(alice.begin()).metadata["model"] == FLASH


def test_else_the_platform_chooses(speaker: NewSpeaker) -> None:
    alice = speaker()
    chosen = alice.send(alice.begin()).metadata["model"]
    assert chosen == settings.DEFAULT_CHAT_MODEL


def test_what_is_disabled_does_not_answer_unasked(speaker: NewSpeaker) -> None:
    alice = speaker()
    prefer(alice, settings.DEFAULT_CHAT_MODEL, enabled=False)
    conversation = alice.begin()
    chosen = alice.send(conversation).metadata["model"]
    assert chosen != settings.DEFAULT_CHAT_MODEL
    prefer(alice, chosen, enabled=False)
    assert alice.send(conversation).metadata["model"] not in (settings.DEFAULT_CHAT_MODEL, chosen)


def test_on_the_free_plan_another_one_of_that_plan_answers(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=0)
    prefer(alice, settings.DEFAULT_CHAT_MODEL, enabled=False)
    chosen = alice.send(alice.begin()).metadata["model"]
    assert chosen != settings.DEFAULT_CHAT_MODEL
    assert get_catalog().models[chosen].free


def test_what_is_disabled_answers_where_it_is_named(speaker: NewSpeaker) -> None:
    alice = speaker()
    prefer(alice, LUNA, enabled=False)
    assert alice.send(alice.begin(), model=LUNA).metadata["model"] == LUNA
    assert alice.send(alice.begin(model=LUNA)).metadata["model"] == LUNA


def test_where_all_are_disabled_one_is_to_be_named(speaker: NewSpeaker) -> None:
    alice = speaker()
    for agent in list_agents(alice.user):
        prefer(alice, agent.model, enabled=False)
    answer = alice.ask("POST", f"/{alice.begin()}/messages", content="Hi")
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["model"])
    assert "disabled" in answer.json()["detail"]


def test_the_conversation_keeps_its_own(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=LUNA)
    alice.send(conversation, model=FLASH)
    assert alice.detail(conversation)["model"] == LUNA
    assert alice.send(conversation).metadata["model"] == LUNA


@pytest.mark.parametrize(
    ("asked", "preferred", "effort"),
    [("high", "low", "high"), (None, "low", "low"), (None, "", None)],
)
def test_it_thinks_as_hard_as_asked_or_else_as_preferred(
    speaker: NewSpeaker, asked: str | None, preferred: str, effort: str | None
) -> None:
    alice = speaker()
    prefer(alice, LUNA, reasoning_effort=preferred)
    conversation = alice.begin(model=LUNA)
    body = {} if asked is None else {"reasoning_effort": asked}
    heard = alice.send(conversation, **body)
    assert alice.message(conversation, heard.reply_id)["reasoning_effort"] == effort
