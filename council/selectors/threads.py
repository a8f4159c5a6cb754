"""The conversation up to a version of a card."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from common.errors import NotFound
from council.models import Card, Message, Version
from council.selectors.cards import current_of, text_of


class ThreadMessage(Struct, frozen=True, kw_only=True):
    """One turn of a card's conversation. `version` is the number of an answer and `model` who gave
    it; `turn_id` joins the message to several cards at once."""

    id: UUID
    card_id: UUID
    role: Literal["user", "assistant"]
    content: str
    model: str | None = None
    version: int | None = None
    turn_id: UUID | None = None
    created_at: datetime


def question_of(card: Card) -> str:
    """The first question of the card."""
    return card.prompt or card.session.prompt


def asked_of(card: Card, version: Version) -> tuple[str, ...]:
    """The user's messages that a version answers, the earliest first."""
    messages = [v.message.content for v in [*ancestors_of(version), version] if v.message]
    return (question_of(card), *messages)


def exchanges_of(card: Card) -> list[tuple[str, Version]]:
    """The conversation that ends with the current version of the card, which is a finished answer:
    the user's message and the version that answers it, each in turn; the oldest first."""
    last = current_of(card)
    versions = [*ancestors_of(last), last]
    return list(zip(asked_of(card, last), versions, strict=True))


def thread_of(card: Card, version: Version | None = None) -> list[ThreadMessage]:
    """The conversation that ends with a version of the card, its current one for None; the oldest
    first: the question, its answer, and the messages after it."""
    last = version or current_of(card)
    messages = [
        ThreadMessage(
            id=card.pk,
            card_id=card.pk,
            role="user",
            content=question_of(card),
            created_at=card.created_at,
        )
    ]
    for each in [*ancestors_of(last), last]:
        if each.message is not None:
            messages.append(_said_by_user(card, each.message))
        messages.append(_said_by_model(card, each))
    return messages


def ancestors_of(version: Version) -> list[Version]:
    """The versions before it in its thread, the oldest first. Raises NotFound where the council has
    been deleted since `version` was read."""
    parents = dict(Version.objects.filter(card=version.card_id).values_list("id", "parent_id"))
    chain: list[UUID] = []
    parent = version.parent_id
    while parent in parents:
        chain.append(parent)
        parent = parents[parent]
    found = Version.objects.select_related("generation", "message").in_bulk(chain)
    if parent is not None or len(found) < len(chain):
        raise NotFound
    return [found[pk] for pk in reversed(chain)]


def _said_by_user(card: Card, message: Message) -> ThreadMessage:
    return ThreadMessage(
        id=message.pk,
        card_id=card.pk,
        role="user",
        content=message.content,
        turn_id=message.turn_id,
        created_at=message.created_at,
    )


def _said_by_model(card: Card, version: Version) -> ThreadMessage:
    return ThreadMessage(
        id=version.pk,
        card_id=card.pk,
        role="assistant",
        content=text_of(version),
        model=version.generation.model,
        version=version.number,
        turn_id=version.generation.turn_id,
        created_at=version.created_at,
    )
