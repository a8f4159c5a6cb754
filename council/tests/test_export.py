"""GET /api/council/cards/{id}/export: a card as a file."""

import json
from typing import Any

import pytest
from django.db import transaction
from msgspec.structs import replace

from ai.inference.errors import UpstreamFailed
from billing.tests.bank import IN_PLAN
from common.api import FastJSONRenderer
from common.money import usd
from council.exports import render
from council.models import Card, Generation, Session
from council.selectors.documents import get_document
from council.services import conversation, merges, sessions
from council.tests import manual
from council.tests.council_client import CARDS, QUESTION, CouncilClient, new_council_client
from council.types import MergeMode

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def export(person: CouncilClient, card: Card, **query: Any) -> Any:
    return person.get(f"{CARDS}/{card.pk}/export", **query)


def told_more(person: CouncilClient) -> Card:
    """A card whose conversation has gone on."""
    with transaction.atomic():
        _, [card] = person.council("Very *deep*.")
        conversation.message_card(user=person.user, card_id=card.pk, content="And how blue?")
        manual.answer(card, "Blue indeed.")
    return card


def merged(person: CouncilClient) -> tuple[Session, Card]:
    with transaction.atomic():
        session, _ = person.council("Deep.", "Blue.")
        card = merges.merge(user=person.user, session_id=session.pk, mode=MergeMode.FUSE)
        manual.answer(card, "Deep and blue.")
    return session, card


def test_markdown_has_title_question_model_and_answer(alice: CouncilClient) -> None:
    answer = export(alice, told_more(alice))

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content.decode() == (
        f"# How deep is the sea?\n\n## Question\n\n{QUESTION}\n\n"
        f"## {IN_PLAN}, version 1\n\nVery *deep*.\n\n## Question\n\nAnd how blue?\n\n"
        f"## {IN_PLAN}, version 2\n\nBlue indeed.\n"
    )


def test_plain_text_has_the_same(alice: CouncilClient) -> None:
    answer = export(alice, told_more(alice), format="txt")

    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    text = answer.content.decode()
    for part in ("How deep is the sea?\n", f"{IN_PLAN}, version 2:\n\nBlue indeed.\n"):
        assert part in text


def test_json_has_version_thread_and_usage(alice: CouncilClient) -> None:
    card = told_more(alice)

    answer = export(alice, card, format="json", version=1)

    assert answer.headers["Content-Type"] == "application/json"
    document = json.loads(answer.content)
    assert document["card_id"] == str(card.pk)
    assert (document["version"], document["model"], document["status"]) == (1, IN_PLAN, "completed")
    assert document["usage"]["total_tokens"] == 15
    thread = [(said["role"], said["content"], said["model"]) for said in document["messages"]]
    assert thread == [("user", QUESTION, None), ("assistant", "Very *deep*.", IN_PLAN)]
    assert document["sources"] == []


def test_amounts_are_written_as_in_all_other_answers(alice: CouncilClient) -> None:
    card = told_more(alice)
    document = get_document(alice.user, card, 1)
    assert document.usage is not None
    usage = replace(document.usage, cost=55_100, plan=55_100, balance=0)

    written = render(replace(document, usage=usage), "json")

    assert '"listed_usd": 0.0000551,' in written
    assert FastJSONRenderer().render({"cost_usd": usd(55_100)}) == b'{"cost_usd":0.0000551}'


def test_a_merge_names_its_sources(alice: CouncilClient) -> None:
    session, card = merged(alice)

    document = json.loads(export(alice, card, format="json").content)
    markdown = export(alice, card).content.decode()
    text = export(alice, card, format="txt").content.decode()

    sources = session.cards.filter(kind="answer").values_list("pk", flat=True)
    assert {source["card_id"] for source in document["sources"]} == {str(pk) for pk in sources}
    lines = [f"{label}: {IN_PLAN}, version 1" for label in "AB"]
    listed = "".join(f"- {line}\n" for line in lines)
    assert markdown.endswith(f"## Merge\n\nMode: fuse.\n\n## Sources\n\n{listed}")
    assert text.endswith("Merge:\n\nMode: fuse.\n\n\nSources:\n\n" + "\n".join(lines) + "\n")


def test_code_in_which_an_answer_was_cut_off_ends_with_it(alice: CouncilClient) -> None:
    with transaction.atomic():
        session, [card] = alice.council("```python\ndepth =")
    Generation.objects.filter(session=session).update(finish_reason="length")

    assert export(alice, card).content.decode().endswith("```python\ndepth =\n```\n")
    assert export(alice, card, format="txt").content.decode().endswith("depth =\n")


@pytest.mark.parametrize("form", ["md", "txt"])
def test_a_merge_says_what_was_asked_for_and_who_stood_in(alice: CouncilClient, form: str) -> None:
    with transaction.atomic():
        session, _ = alice.council("Deep.", "Blue.")
        card = merges.merge(
            user=alice.user,
            session_id=session.pk,
            mode=MergeMode.GUIDED,
            instructions="Keep\nthe numbers.",
        )
        manual.begin(card).release(UpstreamFailed())
        manual.answer(card, "Deep and blue.")
        sessions.regenerate(user=alice.user, card_id=card.pk, instructions="Shorter.")
        manual.answer(card, "Deep blue.")
        conversation.message_card(user=alice.user, card_id=card.pk, content="Shorter.")
        manual.answer(card, "Blue.")

    first = export(alice, card, format=form, version=1).content.decode()
    last = export(alice, card, format=form).content.decode()

    writer = card.versions.get(number=1).generation.model
    assert writer != IN_PLAN
    assert (
        "\n\nMode: guided. Instructions: Keep the numbers.\n\n"
        f"Written by {writer}, because {IN_PLAN} could not be reached (upstream_error).\n"
    ) in first
    assert "\n\nMode: guided. Instructions: Keep the numbers. Shorter.\n" in last
    assert "Written by" not in last


def test_the_sources_of_a_merge_stay_when_its_conversation_goes_on(alice: CouncilClient) -> None:
    _, card = merged(alice)
    with transaction.atomic():
        conversation.message_card(user=alice.user, card_id=card.pk, content="Shorter.")
        manual.answer(card, "Deep blue.")

    document = json.loads(export(alice, card, format="json").content)

    assert [source["label"] for source in document["sources"]] == ["A", "B"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("The sea", f'attachment; filename="The sea - {IN_PLAN} v1.md"'),
        ('../../etc/passwd\r\nX: "1"', f'attachment; filename="etc passwd X 1 - {IN_PLAN} v1.md"'),
        ("\u202eevil\x00\x07", f'attachment; filename="evil - {IN_PLAN} v1.md"'),
        ("?*|", f'attachment; filename="council - {IN_PLAN} v1.md"'),
        (
            "Meer 🌊",
            f"attachment; filename*=utf-8''Meer%20%F0%9F%8C%8A%20-%20{IN_PLAN}%20v1.md",
        ),
    ],
)
def test_the_name_of_the_file_is_a_name_anywhere(
    alice: CouncilClient, title: str, name: str
) -> None:
    with transaction.atomic():
        session = sessions.start(
            user=alice.user,
            prompt=QUESTION,
            models=[IN_PLAN],
            title=title.replace("\0", ""),
        )
        card = session.cards.get()
        manual.answer(card, "Deep.")

    answer = export(alice, card)

    assert answer.headers["Content-Disposition"] == name


def test_a_very_long_title_is_cut(alice: CouncilClient) -> None:
    with transaction.atomic():
        session = sessions.start(
            user=alice.user, prompt=QUESTION, models=[IN_PLAN], title="x" * 200
        )
        manual.answer(session.cards.get(), "Deep.")

    header = export(alice, session.cards.get()).headers["Content-Disposition"]

    assert f'"{"x" * 80} - {IN_PLAN} v1.md"' in header


def test_whatever_the_client_would_rather_have_it_gets_the_file(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")

    answer = alice.client.get(f"{CARDS}/{card.pk}/export", headers={"Accept": "text/markdown"})

    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"format": "pdf"}, 422),
        ({"version": "0"}, 422),
        ({"version": "x"}, 422),
        ({"version": 7}, 404),
    ],
)
def test_what_is_not_there_or_none_is_refused(
    alice: CouncilClient, query: dict[str, Any], status: int
) -> None:
    _, [card] = alice.council("Deep.")

    answer = export(alice, card, **query)

    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)
