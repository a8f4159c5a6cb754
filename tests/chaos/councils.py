"""Councils for tests of what goes wrong, each marked in the simulator's journal."""

import json
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from billing.models import Charge
from common.ids import uuid7
from council.models import Card, Generation, Session, Status
from council.selectors.cards import current_of
from council.services import sessions
from events.models import Event
from tests.chaos import calls
from tests.personas import new_user

# Every call is paid from the balance, at twice the cost.
MODEL = calls.MODEL
_ENDED = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)


def customer(name: str) -> User:
    """Somebody with 5 USD."""
    return new_user(name, plan="max", balance_usd=5)


class Council:
    """A council of one model, on one card or on several; `options` steer the simulator."""

    def __init__(self, owner: User, *, cards: int = 1, **options: Any) -> None:
        self.owner = owner
        self.marker = uuid7().hex
        prompt = self._text("How deep is the sea?", options)
        self.session: Session = sessions.start(user=owner, prompt=prompt, models=[MODEL] * cards)

    @property
    def card(self) -> Card:
        """Its only one."""
        return self._cards().get()

    def answers(self) -> dict[str, str]:
        """What stands on the cards now, by their ids."""
        return {str(card.pk): current_of(card).generation.content for card in self._cards()}

    @property
    def generation(self) -> Generation:
        return current_of(self.card).generation

    @property
    def charge(self) -> Charge:
        return Charge.objects.get(pk=self.generation.pk)

    @property
    def has_ended(self) -> bool:
        return self.generation.status in _ENDED

    @property
    def ending(self) -> tuple[str, str | None]:
        """How the call ended, and the code of its error."""
        generation = self.generation
        return generation.status, (generation.error or {}).get("code")

    def is_saved(self) -> bool:
        """Does the charge know of tokens that were put out?"""
        return Charge.objects.filter(pk=self.generation.pk, units__tokens_out__gt=0).exists()

    def streamed_text(self, version: int = 1) -> str:
        """The text of the card as its followers were told it, piece by piece."""
        text = ""
        for data in map(json.loads, self._data("card.delta")):
            assert data["card_id"] == str(self.card.pk)
            if data["version"] == version:
                assert data["offset"] == len(text)
                text += data["text"]
        return text

    def regenerate(self, **options: Any) -> None:
        instructions = self._text("Again.", options)
        sessions.regenerate(user=self.owner, card_id=self.card.pk, instructions=instructions)

    def events(self) -> list[str]:
        """The types of all, in order."""
        return list(self._log().values_list("type", flat=True))

    def _cards(self) -> QuerySet[Card]:
        return Card.objects.select_related("current__generation").filter(session=self.session)

    def _text(self, words: str, options: dict[str, Any]) -> str:
        return f"{words}\n@sim {json.dumps({'marker': self.marker, **options})}"

    def _data(self, type_: str) -> list[str]:
        return list(self._log().filter(type=type_).values_list("data", flat=True))

    def _log(self) -> Any:
        return Event.objects.filter(stream=self.session.pk).order_by("seq")
