"""Somebody who has runs, over HTTP, against the running service and its workers."""

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
from projects.models import Step
from projects.tests import picture
from simulator.process import RunningSimulator
from tests.follow import Follower, Product, followed
from tests.personas import access_token_of, new_user
from tests.service import Web

RUN = Product("/api/project", picture.NOTHING, picture.apply, picture.is_idle)
# No plan has an allowance for it: every call is paid from the balance, at twice the cost.
BALANCE_ONLY = "kimi-k3"
STEPS = ("plan", "work", "review", "reply", "final")

Shape = dict[str, Any]


def part(key: str, *depends_on: str, **fields: Any) -> Shape:
    """A subtask of a plan, as a planner writes it."""
    return {
        "key": key,
        "title": f"Part {key}",
        "instructions": f"Write part {key}.",
        "acceptance": ["It is there."],
        "depends_on": [*depends_on],
        **fields,
    }


@dataclass
class Principal:
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

    def goal(self, *parts: Shape, words: str = "Write about the sea.", **by_step: Shape) -> str:
        """A goal whose plan has these parts; without any, the simulator plans. `by_step` are
        options of the simulator for the steps of a kind (`work={"delay_ms": 20}`)."""
        lines = {step: {"step": step, "marker": self.marker} for step in STEPS}
        if parts:
            plan = json.dumps({"title": "Sea", "summary": "All of it.", "subtasks": parts})
            lines["plan"]["text"] = plan
        for step, options in by_step.items():
            lines[step] |= options
        return "\n@sim ".join([words, *map(json.dumps, lines.values())])

    def also(self, goal: str, **options: Any) -> str:
        """The goal with one more line of options, which counts before the others."""
        return f"{goal}\n@sim {json.dumps({'marker': self.marker, **options})}"

    def send(self, method: str, path: str, key: str | None = None, **body: Any) -> httpx.Response:
        """With `key` as its `Idempotency-Key`, if there is one."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        return self.http.request(method, f"/api/project{path}", json=body, headers=headers)

    def do(self, method: str, path: str, **body: Any) -> Any:
        """The answer of an action that goes well."""
        answer = self.send(method, path, **body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def start(self, *parts: Shape, goal: str | None = None, **fields: Any) -> Shape:
        body = {"prompt": goal or self.goal(*parts), **fields}
        run: Shape = self.do("POST", "/sessions", **body)
        return run

    def follow(self, run: Shape) -> AbstractContextManager[Follower]:
        """All sides of the run tell the same when the block has ended and nothing runs."""
        return followed(RUN, run["id"], self.token, self.web)

    def finished(self, *parts: Shape, goal: str | None = None, **fields: Any) -> Shape:
        """A run that has ended, or is paused, by itself."""
        run = self.start(*parts, goal=goal, **fields)
        with self.follow(run) as follower:
            pass
        return follower.pictures[-1]

    def top_up(self, cents: int) -> None:
        amount = cents * NUSD_PER_CENT
        balance.topup(operation_id=uuid7(), account=self.user, amount=amount)
        self.balance += amount

    # --- Counting --------------------------------------------------------------------------------

    def calls(self) -> list[Shape]:
        """What the providers say they were asked."""
        return self.simulator.calls(self.marker)

    def check_money(self, run: Shape) -> None:
        """Of an idle user with one run: every step has one charge or none, which has ended, and
        subtasks, run, charges and wallet tell the same amounts."""
        charges = {str(charge.pk): charge for charge in Charge.objects.filter(account=self.user)}
        total, of_subtasks = 0, dict[str, int]()
        for step in Step.objects.filter(run=run["id"]):
            charge = charges.pop(str(step.pk), None)
            assert charge is None or charge.status in ("settled", "expired", "released")
            paid = charge.charge_plan + charge.charge_balance if charge else 0
            total += paid
            if step.subtask_id is not None:
                subtask_id = str(step.subtask_id)
                of_subtasks[subtask_id] = of_subtasks.get(subtask_id, 0) + paid
        assert charges == {}
        for subtask in run["subtasks"]:
            assert subtask["cost_usd"] == usd(of_subtasks.get(subtask["id"], 0))
        assert run["cost_usd"] == usd(total)
        wallet = Wallet.objects.get(account=self.user)
        assert (wallet.held, wallet.open_charges) == (0, 0)


def new_principal(
    http: httpx.Client,
    web: Web,
    simulator: RunningSimulator,
    *,
    name: str = "alice",
    plan: str = "max",
    balance_cents: int = 5000,
) -> Principal:
    """Somebody new."""
    principal = Principal(new_user(name, plan=plan), 0, uuid4().hex, http, web, simulator)
    principal.top_up(balance_cents)
    return principal
