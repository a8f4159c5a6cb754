"""What a council looks like after some of its events, drawn as docs/api/events.md tells clients to.

Pure: nothing of the service is used here. The picture is what `GET /api/council/sessions/{id}`
answers.
"""

from typing import Any

Picture = dict[str, Any]

# Before the first event.
NOTHING: Picture = {"cards": [], "cost_usd": 0}


def apply(picture: Picture, event: dict[str, Any]) -> Picture:
    """The picture after the event. That of before is left as it is."""
    return {**picture, **_changes(picture, event["type"], event["data"]), "last_seq": event["seq"]}


def _changes(picture: Picture, kind: str, data: dict[str, Any]) -> Picture:
    match kind.partition(".")[0], kind:
        case "session", _:
            return {**data["session"]}
        case "usage", _:
            return {"cost_usd": data["cost_usd"]}
        case "card", "card.removed":
            return {"cards": [card for card in picture["cards"] if card["id"] != data["card_id"]]}
        case "card", "card.delta":
            return {"cards": [_with_text(card, data) for card in picture["cards"]]}
        case "card", "card.created":
            return {"cards": [*picture["cards"], {**data["card"], "content": ""}]}
        case "card", _:
            return {"cards": [_as_sent(card, data["card"]) for card in picture["cards"]]}
    return {}


def _with_text(card: dict[str, Any], delta: dict[str, Any]) -> dict[str, Any]:
    place = (card["id"], card["current_version"], len(card["content"]))
    if place != (delta["card_id"], delta["version"], delta["offset"]):
        return card
    return {**card, "content": card["content"] + delta["text"]}


def _as_sent(card: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    if card["id"] != sent["id"]:
        return card
    same = card["current_version"] == sent["current_version"]
    return {**card, **sent, "content": card["content"] if same else ""}
