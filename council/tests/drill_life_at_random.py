"""A council through acts at random: after each, all sides tell the same, and money is true."""

import random
from collections.abc import Callable
from typing import Any

import httpx

from council.tests.conftest import NewOwner
from council.tests.owner import MODELS, Owner, Shape

ACTS = 30
# Of a walk with something of everything in it; any other will do.
SEED = 1
# Why an act may be refused: nothing to go on from, no money, just removed, something goes on.
REFUSALS = (400, 402, 404, 409)

FAULTS: list[dict[str, Any]] = [
    {"fail": "before", "status": 400},
    {"fail": "after", "after_tokens": 4},
    {"drop": True, "after_tokens": 7},
    {"truncate": True},
    {"no_usage": True},
    {"text": "One word 🌊"},
    {"reasoning_tokens": 9},
]


class Walk:
    """Acts on one council. `rng` chooses, so that a walk can be repeated."""

    def __init__(self, owner: Owner, rng: random.Random) -> None:
        self._owner = owner
        self._rng = rng
        models = rng.choices(MODELS, k=4)
        self.session = owner.finished(*models)

    def go_on(self) -> None:
        """One act, sometimes two at a time, and what comes of it."""
        with self._owner.follow(self.session) as follower:
            for _ in range(self._rng.choice((1, 1, 2))):
                self._act()
        self.session = follower.pictures[-1]
        self._owner.check_money(self.session)

    def _act(self) -> None:
        acts: list[Callable[[], httpx.Response]] = [self._add] * 2
        if self.session["cards"]:
            acts += [self._regenerate, self._message, self._chat, self._merge, self._debate] * 2
            acts += [self._restore, self._remove]
        answer = self._rng.choice(acts)()
        assert answer.is_success or answer.status_code in REFUSALS, answer.text

    def _add(self) -> httpx.Response:
        return self._on_all("cards", model_key=self._model(), prompt=self._words())

    def _chat(self) -> httpx.Response:
        return self._on_all("chat", content=self._words())

    def _merge(self) -> httpx.Response:
        return self._on_all("merge", mode="guided", instructions=self._words())

    def _debate(self) -> httpx.Response:
        return self._on_all("debate", rounds=self._rng.randint(1, 2), focus=self._words())

    def _regenerate(self) -> httpx.Response:
        named = {"model_key": self._model()} if self._rng.random() < 0.5 else {}
        return self._on_card("regenerate", instructions=self._words(), **named)

    def _restore(self) -> httpx.Response:
        card = self._card()
        number = self._rng.randint(1, card["current_version"])
        return self._owner.send("POST", f"/cards/{card['id']}/restore", version=number)

    def _message(self) -> httpx.Response:
        return self._on_card("messages", content=self._words())

    def _remove(self) -> httpx.Response:
        return self._owner.send("DELETE", f"/cards/{self._card()['id']}")

    def _on_all(self, what: str, **body: Any) -> httpx.Response:
        return self._owner.send("POST", f"/sessions/{self.session['id']}/{what}", **body)

    def _on_card(self, what: str, **body: Any) -> httpx.Response:
        return self._owner.send("POST", f"/cards/{self._card()['id']}/{what}", **body)

    def _card(self) -> Shape:
        """Of the last picture: it may have been removed since."""
        card: Shape = self._rng.choice(self.session["cards"])
        return card

    def _model(self) -> str:
        return self._rng.choice(MODELS)

    def _words(self) -> str:
        """They let every fifth call go wrong, or say something else."""
        fault = self._rng.choice(FAULTS) if self._rng.random() < 0.2 else {}
        options = {
            "tokens": self._rng.randint(1, 60),
            "delay_ms": self._rng.choice((0, 5)),
            **fault,
        }
        if "text" in fault:
            options["tokens"] = None
        return self._owner.text(**options)


def test_a_council_lives_through_thirty_acts(owner: NewOwner) -> None:
    walk = Walk(owner(), random.Random(SEED))  # noqa: S311 - a walk that can be repeated

    for _ in range(ACTS):
        walk.go_on()

    assert walk.session["last_seq"] > ACTS
