"""The events of a council. Their data has the shapes of the REST answers.

A card's text is in `card.delta` events alone: `offset` counts code points, and the text of a card
whose `current_version` changes begins again. Everything else is in the status events, each of which
contains the whole card, so that applying one twice does no harm.
"""

from collections.abc import Iterable

from ai.generations.types import Piece, cut
from common.money import usd
from council.models import Card, Message, Session, Turn, Version
from council.selectors.cards import current_of, session_cost, state_of
from council.selectors.rounds import positions, revisions_of
from council.serializers.sessions import (
    card_in_event,
    message_in_event,
    session_in_event,
    version_meta,
)
from events.types import SYSTEM, USER, NewEvent, model_actor


def session_created(session: Session) -> NewEvent:
    data = {**session_in_event(session), "prompt": session.prompt, "system": session.system}
    return NewEvent("session.created", {"session": data}, USER)


def session_completed(session: Session) -> NewEvent:
    """Nothing runs any more, and there is an answer."""
    return NewEvent("session.completed", {"session": session_in_event(session)})


def session_updated(session: Session, actor: str = SYSTEM) -> NewEvent:
    """Its title, activity, round or status has changed."""
    return NewEvent("session.updated", {"session": session_in_event(session)}, actor)


def card_created(session: Session, card: Card) -> NewEvent:
    """The only event with the card's own question."""
    state = state_of(session.account, card, with_text=False)
    data = {**card_in_event(state), "prompt": card.prompt or None}
    return NewEvent("card.created", {"card": data}, USER)


def card_event(verb: str, session: Session, card: Card, actor: str | None = None) -> NewEvent:
    """`card.<verb>`; the actor is the card's model unless another is named."""
    state = state_of(session.account, card, with_text=False)
    return NewEvent(
        f"card.{verb}",
        {"card": card_in_event(state)},
        actor or model_actor(state.version.generation.model),
    )


def card_removed(card: Card) -> NewEvent:
    return NewEvent("card.removed", {"card_id": card.pk}, USER)


def version_created(session: Session, card: Card) -> NewEvent:
    """A card has begun a new version. The event contains the card."""
    state = state_of(session.account, card, with_text=False)
    data = {"card": card_in_event(state), "version": version_meta(current_of(card))}
    return NewEvent("card.version.created", data, USER)


def deltas(version: Version, model: str, pieces: Iterable[Piece], offset: int) -> list[NewEvent]:
    """Text of a version that begins at code point `offset`, in events of bounded size."""
    card, actor = {"card_id": version.card_id, "version": version.number}, model_actor(model)
    return [
        NewEvent("card.delta", {**card, "offset": start, "text": text}, actor)
        for start, (_, text) in cut(pieces, offset)
    ]


def message_created(message: Message) -> NewEvent:
    return NewEvent("message.created", {"message": message_in_event(message)}, USER)


def message_completed(version: Version, turn: Turn) -> NewEvent:
    """A card has answered a message. The text of the answer is the card's version."""
    data = {"card_id": version.card_id, "version": version.number, "turn_id": turn.pk}
    return NewEvent("message.completed", data, model_actor(version.generation.model))


def usage_updated(session: Session) -> NewEvent:
    """The cost of the council so far."""
    cost = session_cost(session.account, session.pk)
    return NewEvent("usage.updated", {"cost_usd": usd(cost)})


def merge_event(verb: str, turn: Turn, card: Card, actor: str) -> NewEvent:
    """`merge.<verb>`. `label_map` maps each letter to its card."""
    state = state_of(turn.session.account, card, with_text=False)
    sources = state.version.details["sources"]
    data = {
        "turn_id": turn.pk,
        "card": card_in_event(state),
        "mode": state.version.details["mode"],
        "sources": sources,
        "label_map": {source["label"]: source["card_id"] for source in sources},
        "synthesis": state.version.details["synthesis"],
    }
    return NewEvent(f"merge.{verb}", data, actor)


def debate_started(turn: Turn) -> NewEvent:
    params = turn.params
    data = {
        "turn_id": turn.pk,
        "rounds": params["rounds"],
        "focus": params["focus"],
        "participants": [
            {"card_id": card_id, "label": label} for card_id, label in params["labels"].items()
        ],
    }
    return NewEvent("debate.started", data, USER)


def round_completed(turn: Turn) -> NewEvent:
    """All cards of the round have revised their answers, or failed."""
    stands = positions(turn, revisions_of(turn, turn.round))
    data = {"turn_id": turn.pk, "round": turn.round, "positions": stands}
    return NewEvent("debate.round.completed", data)


def debate_completed(turn: Turn) -> NewEvent:
    """It has ended; `stopped_early` where no card had anything left to change or to answer."""
    data = {
        "turn_id": turn.pk,
        "rounds_run": turn.round,
        "stopped_early": turn.round < turn.params["rounds"],
        "positions": positions(turn, revisions_of(turn)),
    }
    return NewEvent("debate.completed", data)
