"""GET /api/conversations/{id}/export: a conversation as a file."""

import json
from typing import Any
from uuid import uuid4

import pytest

from conftest import Persona
from conversations.models import Attachment, Conversation, Message
from conversations.tests.rows import ASSISTANT, MODEL, add, talk
from media.files.models import Upload

CONVERSATIONS = "/api/conversations"


def export(persona: Persona, conversation: Conversation, **query: Any) -> Any:
    return persona.client.get(f"{CONVERSATIONS}/{conversation.pk}/export", query)


def text(persona: Persona, conversation: Conversation) -> str:
    content: bytes = export(persona, conversation).content
    return content.decode()


def test_markdown_has_the_branch_that_is_shown(alice: Persona) -> None:
    sea = talk(alice.user, "How *deep*?", "Very.", title="The\nsea", system="Be brief.")
    question = sea.messages.order_by("id")[0]
    add(sea, "Eleven kilometres.", role=ASSISTANT, parent=question)
    add(sea, "And how blue? 🌊")

    answer = export(alice, sea)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content.decode() == (
        f"# The sea\n\n## Question\n\nHow *deep*?\n\n## {MODEL}\n\nEleven kilometres.\n\n"
        "## Question\n\nAnd how blue? 🌊\n"
    )


def test_json_has_all_branches_as_the_detail_has_them(alice: Persona) -> None:
    sea = talk(alice.user, "How deep? 🌊", "Very.", title="The sea", system="Be brief.")
    add(sea, "How blue?", parent=None)

    answer = export(alice, sea, format="json")

    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(answer.content) == alice.client.get(f"{CONVERSATIONS}/{sea.pk}").json()
    assert "🌊" in answer.content.decode()


def test_markdown_names_files_and_tells_what_became_of_a_reply(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", title="The sea")
    upload = Upload.objects.create(
        account=alice.user, name="a.txt", media_type="text/plain", is_text=True, size=7
    )
    Attachment.objects.create(message=sea.messages.get(), upload=upload)
    add(
        sea,
        "Ve",
        role=ASSISTANT,
        status=Message.Status.FAILED,
        error={"code": "upstream_error", "message": "The provider failed."},
    )
    add(sea, "Go on.")
    add(sea, "Very", role=ASSISTANT, status=Message.Status.CANCELLED)
    add(sea, "Go on!")
    add(sea, "", role=ASSISTANT, status=Message.Status.RUNNING)

    assert text(alice, sea) == (
        "# The sea\n\n## Question\n\nHow deep?\n\n- a.txt\n\n"
        f"## {MODEL}\n\nVe\n\n_Failed: The provider failed._\n\n## Question\n\nGo on.\n\n"
        f"## {MODEL}\n\nVery\n\n_Stopped._\n\n## Question\n\nGo on!\n\n"
        f"## {MODEL}\n\n_Still being written._\n"
    )


def test_code_in_which_a_reply_was_stopped_ends_with_it(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", title="The sea")
    add(sea, "```python\ndepth =", role=ASSISTANT, status=Message.Status.CANCELLED)

    assert text(alice, sea).endswith(f"## {MODEL}\n\n```python\ndepth =\n```\n\n_Stopped._\n")


def test_one_in_which_nothing_was_said_is_a_file_too(alice: Persona) -> None:
    sea = talk(alice.user)

    answer = export(alice, sea)

    assert answer.content.decode() == "# Conversation\n"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Conversation.md"'


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("The sea", 'attachment; filename="The sea.md"'),
        ('../../etc/passwd\r\nX: "1"', 'attachment; filename="etc passwd X 1.md"'),
        ("\u202eevil\x07", 'attachment; filename="evil.md"'),
        ("x" * 200, f'attachment; filename="{"x" * 80}.md"'),
        ("Meer 🌊", "attachment; filename*=utf-8''Meer%20%F0%9F%8C%8A.md"),
    ],
)
def test_the_name_of_the_file_is_a_name_anywhere(alice: Persona, title: str, name: str) -> None:
    answer = export(alice, talk(alice.user, title=title))

    assert answer.headers["Content-Disposition"] == name


def test_whatever_the_client_would_rather_have_it_gets_the_file(alice: Persona) -> None:
    url = f"{CONVERSATIONS}/{talk(alice.user, 'How deep?').pk}/export"

    assert alice.client.get(url, headers={"Accept": "text/markdown"}).status_code == 200


def test_another_format_is_422(alice: Persona) -> None:
    answer = export(alice, talk(alice.user, "How deep?"), format="pdf")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["format"]


def test_one_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    sea = talk(alice.user, "How deep?")

    assert export(bob, sea).status_code == 404
    assert alice.client.get(f"{CONVERSATIONS}/{uuid4()}/export").status_code == 404
