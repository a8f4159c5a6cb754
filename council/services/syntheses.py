"""The events of a merge besides its text: its sources, its model, and how it ended."""

from collections.abc import Sequence
from typing import Any

from ai.inference.errors import UpstreamFailed
from ai.provider_health.errors import ProviderNotAvailable
from billing.selectors.charges import get_usage
from common.errors import DomainError, ServiceUnavailable
from council import events, labels
from council.models import Card, Generation, Status, Turn, Version
from council.selectors.cards import current_of
from council.selectors.sources import is_merge
from council.selectors.substitutes import substitute_of
from council.services import generations
from council.types import MergeMode
from events.types import NewEvent, model_actor
from work.jobs.selectors import is_unwanted

# The model was not reached, or failed before it wrote anything: another one is asked.
_UNREACHED = (UpstreamFailed, ProviderNotAvailable, ServiceUnavailable)


def details_of(
    *, mode: MergeMode, instructions: str, sources: Sequence[Card], model: str
) -> dict[str, Any]:
    """The details of a merge of these cards as they are. Their letters are dealt here, once."""
    dealt = labels.deal([card.pk for card in sources])
    numbers = {str(card.pk): current_of(card).number for card in sources}
    return {
        "mode": mode,
        "instructions": instructions,
        "sources": [
            {"card_id": card_id, "version": numbers[card_id], "label": label}
            for card_id, label in dealt.items()
        ],
        "synthesis": _synthesis("primary", model, model),
    }


def details_again(version: Version, model: str) -> dict[str, Any]:
    """The details of the version that repeats a merge."""
    return {**version.details, "synthesis": _synthesis("primary", model, model)}


def fall_back(*, version: Version, failed: Generation, failure: DomainError) -> list[NewEvent]:
    """Let another model merge, once, where the first could not be reached. Returns the events; none
    where there is no falling back."""
    if not _may_fall_back(version, failed, failure):
        return []
    model = substitute_of(failed, version)
    if model is None:
        return []
    synthesis = _synthesis("fallback", failed.model, model.id, failure.code)
    generations.begin_again(
        version=version,
        turn=failed.turn,
        model=model.id,
        details={**version.details, "synthesis": synthesis},
    )
    failed.card.current = version
    return [events.card_event("updated", failed.session, failed.card)]


def after(*, turn: Turn) -> list[NewEvent]:
    """The event of a merge that has ended; there is none for a card that was removed."""
    version = Version.objects.filter(generation__turn=turn).select_related("generation").get()
    card = Card.objects.select_related("current__generation").get(pk=version.card_id)
    if card.removed_at is not None:
        return []
    completed = version.generation.status == Status.COMPLETED
    verb = "completed" if completed else "failed"
    return [events.merge_event(verb, turn, card, model_actor(version.generation.model))]


def _may_fall_back(version: Version, failed: Generation, failure: DomainError) -> bool:
    """Not where the first call is billed: it has brought something, if only thoughts. Nor where it
    was stopped."""
    return (
        is_merge(version)
        and version.details["synthesis"]["source"] == "primary"
        and isinstance(failure, _UNREACHED)
        and failed.card.removed_at is None
        and not is_unwanted(failed.pk)
        and not get_usage(failed.session.account, [failed.pk])
    )


def _synthesis(source: str, requested: str, used: str, reason: str | None = None) -> dict[str, Any]:
    return {
        "source": source,
        "requested_model": requested,
        "used_model": used,
        "reason": reason,
    }
