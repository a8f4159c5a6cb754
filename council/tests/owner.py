"""Somebody who holds councils, over HTTP, against the running service and its workers."""

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from accounts.models import User
from billing.models import Charge, Wallet
from billing.services import balance
from common.ids import uuid7
from common.money import NUSD_PER_CENT, usd
from council.models import Generation
from council.tests import picture
from simulator.process import RunningSimulator
from tests.follow import Follower, Product, followed
from tests.personas import access_token_of, new_user
from tests.service import Web

# Every plan but the free one has an allowance for it.
IN_PLAN = "gpt-6-luna"
# No plan has: every call is paid from the balance, at twice the cost.
BALANCE_ONLY = "kimi-k3"
MODELS = (IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash", BALANCE_ONLY)

COUNCIL = Product("/api/council", picture.NOTHING, picture.apply)

Shape = dict[str, Any]


@dataclass
class Owner:
    """A user on a plan. What they ask is marked, so that the simulator's journal tells their calls
    from everybody else's."""

    user: User
    balance: int
    marker: str
    http: httpx.Client
    web: Web
    simulator: RunningSimulator

    @property
    def token(self) -> str:
        return access_token_of(self.user)

    # --- Acting ----------------------------------------------------------------------------------

    def text(self, *for_models: Shape, words: str = "How deep is the sea?", **steering: Any) -> str:
        """Words that steer the simulator; without a option it answers in three words. `for_models`
        are options for single models, which they name."""
        lines = [{"tokens": 3, **steering}, *for_models]
        marked = [json.dumps({"marker": self.marker, **line}) for line in lines]
        return "\n@sim ".join([words, *marked])

    def send(self, method: str, path: str, **body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.http.request(method, f"/api/council{path}", json=body, headers=headers)

    def do(self, method: str, path: str, **body: Any) -> Any:
        """The answer of an action that goes well."""
        answer = self.send(method, path, **body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def start(self, *models: str, prompt: str | None = None, **fields: Any) -> Shape:
        body = {"prompt": prompt or self.text(), "models": models or MODELS[:2], **fields}
        session: Shape = self.do("POST", "/sessions", **body)
        return session

    def follow(self, session: Shape) -> AbstractContextManager[Follower]:
        """All sides of the session tell the same when the block has ended and nothing runs."""
        return followed(COUNCIL, session["id"], self.token, self.web)

    def finished(self, *models: str, **fields: Any) -> Shape:
        """A council whose first answers are there."""
        session = self.start(*models, **fields)
        with self.follow(session) as follower:
            pass
        return follower.pictures[-1]

    def top_up(self, cents: int) -> None:
        amount = cents * NUSD_PER_CENT
        balance.topup(operation_id=uuid7(), account=self.user, amount=amount)
        self.balance += amount

    # --- Counting --------------------------------------------------------------------------------

    def charges(self) -> dict[str, Charge]:
        """By the ids of the calls that they paid for."""
        return {str(charge.pk): charge for charge in Charge.objects.filter(account=self.user)}

    def calls(self) -> list[dict[str, Any]]:
        """What the providers say they were asked."""
        return self.simulator.calls(self.marker)

    def check_money(self, session: Shape) -> None:
        """Of an idle owner with one council: every call has one charge or none, which has ended,
        and cards, session, charges and wallet tell the same amounts."""
        charges = self.charges()
        generations = Generation.objects.filter(session=session["id"])
        of_cards: dict[str, int] = {}
        for generation in generations:
            charge = charges.pop(str(generation.pk), None)
            assert charge is None or charge.status in ("settled", "expired", "released")
            paid = charge.charge_plan + charge.charge_balance if charge else 0
            card_id = str(generation.card_id)
            of_cards[card_id] = of_cards.get(card_id, 0) + paid
        assert charges == {}
        for card in session["cards"]:
            assert card["cost_usd"] == usd(of_cards[card["id"]])
        assert session["cost_usd"] == usd(sum(of_cards.values()))
        wallet = Wallet.objects.get(account=self.user)
        billed = sum(charge.charge_balance for charge in self.charges().values())
        assert (wallet.held, wallet.open_charges) == (0, 0)
        assert self.balance - wallet.balance == billed


def new_owner(
    http: httpx.Client,
    web: Web,
    simulator: RunningSimulator,
    *,
    name: str = "alice",
    plan: str = "max",
    balance_cents: int = 1000,
) -> Owner:
    """Somebody new."""
    owner = Owner(new_user(name, plan=plan), 0, uuid4().hex, http, web, simulator)
    owner.top_up(balance_cents)
    return owner
