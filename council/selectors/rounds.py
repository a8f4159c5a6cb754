"""The results of the rounds of a debate."""

from typing import Any

from council.models import Turn, Version


def revisions_of(turn: Turn, number: int | None = None) -> list[Version]:
    """The versions of that round, or of all rounds."""
    revisions = Version.objects.filter(generation__turn=turn, source=Version.Source.DEBATE)
    if number is not None:
        revisions = revisions.filter(details__round=number)
    related = revisions.select_related("card", "generation", "revises__generation")
    return list(related.order_by("number"))


def answers_before(turn: Turn, number: int) -> dict[str, str]:
    """The answers before a round, by letter, in the letters' order."""
    answers = {
        turn.params["labels"][str(version.card_id)]: version.revises.generation.content
        for version in revisions_of(turn, number)
        if version.revises is not None
    }
    return dict(sorted(answers.items()))


def positions(turn: Turn, revisions: list[Version]) -> list[dict[str, Any]]:
    """The positions of the cards after their last revisions, in the letters' order."""
    labels = turn.params["labels"]
    latest = {str(version.card_id): version for version in revisions}
    found = [
        {
            "card_id": version.card_id,
            "label": labels[card_id],
            "version": version.number,
            "changed": version.details.get("changed", False),
            "status": version.generation.status,
        }
        for card_id, version in latest.items()
        if version.card.removed_at is None
    ]
    return sorted(found, key=lambda position: position["label"])
