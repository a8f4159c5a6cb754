"""The rounds of a debate: one after the other, each when all calls of the one before have ended."""

from collections.abc import Sequence

from council import events
from council.models import Card, Status, Turn, Version
from council.selectors.cards import current_of, live_cards
from council.selectors.rounds import revisions_of
from council.services import generations
from council.types import MIN_ANSWERS
from events.types import NewEvent


def begin(*, turn: Turn, cards: Sequence[Card]) -> list[NewEvent]:
    """Begin a round: each card revises its answer, in the place of that answer in its thread."""
    new_events = []
    for card in cards:
        before = current_of(card)
        generations.begin(
            card=card,
            turn=turn,
            source=Version.Source.DEBATE,
            model=before.generation.model,
            parent=before.parent,
            message=before.message,
            revises=before,
            instructions=before.instructions,
            details={"round": turn.round},
        )
        new_events.append(events.version_created(turn.session, card))
    return new_events


def after(*, turn: Turn) -> tuple[list[NewEvent], bool]:
    """What a round whose calls have all ended has brought: its events, and does another begin?

    A card that failed takes no part any more. Where fewer than two are left, or none has changed
    anything, the others have heard all there is to hear. One that was stopped does not go on.
    """
    new_events = [events.round_completed(turn)]
    revised = {
        version.card_id: version
        for version in revisions_of(turn, turn.round)
        if version.generation.status == Status.COMPLETED
    }
    left = list(live_cards().filter(pk__in=revised))
    changed = any(revised[card.pk].details.get("changed") for card in left)
    is_last = turn.round >= turn.params["rounds"] or turn.stopped_at is not None
    if is_last or len(left) < MIN_ANSWERS or not changed:
        return [*new_events, events.debate_completed(turn)], False
    turn.round += 1
    turn.save(update_fields=["round"])
    return [*new_events, *begin(turn=turn, cards=left)], True
