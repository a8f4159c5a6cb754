"""Searching as a client does."""

from typing import Any

from conftest import Persona
from conversations.models import Conversation

CONVERSATIONS = "/api/conversations"


def search(persona: Persona, q: str, **query: str) -> list[dict[str, Any]]:
    answer = persona.client.get(CONVERSATIONS, {"q": q, **query})
    assert answer.status_code == 200, answer.content
    rows: list[dict[str, Any]] = answer.json()
    return rows


def found(persona: Persona, q: str, **query: str) -> list[str]:
    return [row["id"] for row in search(persona, q, **query)]


def ids(*conversations: Conversation) -> list[str]:
    return [str(conversation.pk) for conversation in conversations]
