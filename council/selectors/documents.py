"""A card as it is shown outside of its council."""

from uuid import UUID

from msgspec import Struct

from accounts.models import User
from billing.selectors.charges import ChargeUsage, get_usage
from council.models import Card, Version
from council.selectors.cards import get_version
from council.selectors.sources import is_merge, sources_of
from council.selectors.threads import ThreadMessage, ancestors_of, thread_of


class Source(Struct, frozen=True):
    """A merged answer, with its letter in the merge."""

    label: str
    card_id: UUID
    version: int
    model: str


class Merge(Struct, frozen=True):
    """A merge by `writer`; where another model was `asked`, `reason` is the code of its failure."""

    mode: str
    instructions: str
    asked: str
    writer: str
    reason: str | None
    sources: list[Source]


class Document(Struct, frozen=True, kw_only=True):
    """A version of a card, the conversation up to it, and the merge at its beginning, if there is
    one."""

    card: Card
    version: Version
    usage: ChargeUsage | None
    merge: Merge | None
    messages: list[ThreadMessage]

    @property
    def sources(self) -> list[Source]:
        """The answers that it began from."""
        return self.merge.sources if self.merge else []


def get_document(user: User, card: Card, number: int | None) -> Document:
    """A version of the user's card, its current one for None. Raises NotFound."""
    version = get_version(card, number)
    call_id = version.generation_id
    return Document(
        card=card,
        version=version,
        usage=get_usage(user, [call_id]).get(call_id),
        merge=_merge([*ancestors_of(version), version][0]),
        messages=thread_of(card, version),
    )


def _merge(first: Version) -> Merge | None:
    """The merge that the first answer of a conversation is made of."""
    if not is_merge(first):
        return None
    details = first.details
    synthesis = details["synthesis"]
    return Merge(
        details["mode"],
        "\n".join(filter(None, (details["instructions"], first.instructions))),
        synthesis["requested_model"],
        synthesis["used_model"],
        synthesis["reason"],
        [
            Source(label, source.card_id, source.number, source.generation.model)
            for label, source in sources_of(first)
        ],
    )
