"""A month in the life of three accounts: whatever moves money, in any order, at any time.

An oracle says what each step must answer, and what the database must then say about every account;
the invariants hold after every step. A life is one transaction, which is rolled back at its end:
what happens at the same time is for test_concurrency.py.

LIVES=1000 in the environment (and `--timeout=0`) lives through that many.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from accounts.models import ApiKey, User
from billing.models import LedgerEntry
from billing.services import sweeps
from billing.tests import teller
from billing.tests.oracle import Call, Key, Plan, month_after, month_of
from billing.tests.world import World
from billing.types import ChargeStatus, Ending, HoldRequest, Once
from common.ids import uuid7

T = TypeVar("T")

LIVES = int(os.environ.get("LIVES", "10"))
# The last evening of a month, late enough that no deadline has passed by the system's clock.
BEGIN = datetime(2099, 1, 31, 20, tzinfo=UTC)

IN_PLAN, LOCKED, BALANCE_ONLY = "gpt-6-luna", "claude-sonnet-5-5", "kimi-k3"
FREE_MODELS = {IN_PLAN}
# Advanced has less of one model than max: what an operator changed has to work too.
PLANS = {
    plan.key: plan
    for plan in (
        Plan("free", False, {}),
        Plan("starter", False, {IN_PLAN: 5}),
        Plan("pro", False, {IN_PLAN: 10, LOCKED: 3}),
        Plan("max", True, {IN_PLAN: 20, LOCKED: 8}),
        Plan("advanced", True, {IN_PLAN: 15, LOCKED: 30}),
        Plan("enterprise", True, {}, by_contract=True),
    )
}
PERSONAS = {"alice": "max", "bob": "free", "charlie": "enterprise"}

# Small numbers collide: balances that just cover a hold, caps that are just reached.
AMOUNTS = st.sampled_from([0, 1, 2, 3, 5, 8, 50])
WHO = st.sampled_from(list(PERSONAS))
MODELS = st.sampled_from([IN_PLAN, LOCKED, BALANCE_ONLY])
PICK = st.integers(0, 99)
NAMES = st.sampled_from(["a", "b"])
VIA = st.sampled_from(["key", "key", "chat", "title", "job"])
SHARES = st.sampled_from(["none", "half", "all", "more"])
ENDS = st.sampled_from(["settled", "released", "expired"])
STEPS = st.one_of(
    st.sampled_from([1, 7, 8, 9, 15, 16, 29, 30, 31, 300, 601]).map(lambda n: timedelta(seconds=n)),
    st.sampled_from([1, 4, 20, 24, 24 * 12]).map(lambda n: timedelta(hours=n)),
)


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.rollback = ExitStack()
        self.rollback.enter_context(transaction.atomic())
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        self.world = World(BEGIN, PLANS, FREE_MODELS)

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.rollback.close()

    @initialize()
    def begin(self) -> None:
        for who, plan in PERSONAS.items():
            self.world.open_account(who, plan)
            self.world.open_key(who, Key(cap=40))
            self.world.open_key(who, Key(cap=None, models=frozenset({IN_PLAN, BALANCE_ONLY})))
        self.world.start_process()
        self.world.start_process()

    # --- Calls ----------------------------------------------------------------------------------

    @rule(
        who=WHO,
        model=MODELS,
        via=VIA,
        worst=AMOUNTS,
        pick=PICK,
        seconds=st.sampled_from([60, 600, 86_400]),
        reply=st.sampled_from(["comes", "comes", "is asked for again", "is lost"]),
    )
    def call(
        self, who: str, model: str, via: str, worst: int, pick: int, seconds: int, reply: str
    ) -> None:
        request = self._request(who, model, via, worst, pick, seconds)
        self.world.hold(request)
        if reply == "is asked for again":
            self.world.hold(request)
        if reply == "is lost":
            self.world.unheard.add(request.charge_id)

    @rule(calls=st.lists(st.tuples(WHO, MODELS, VIA, AMOUNTS, PICK), min_size=2, max_size=4))
    def calls_in_one_round_trip(self, calls: list[tuple[str, str, str, int, int]]) -> None:
        self.world.hold_together([self._request(*call) for call in calls])

    @rule(who=WHO, model=MODELS, count=st.sampled_from([1, 4, 10]), broken=st.booleans())
    def chat(self, who: str, model: str, count: int, broken: bool) -> None:
        """Message after message; if `broken`, nothing comes of each second one."""
        for number in range(count):
            request = self._request(who, model, "chat", 1, number)
            if self.world.hold(request) == "held":
                call = self.world.accounts[who].calls[request.charge_id]
                self.world.end(call, "released" if broken and number % 2 else "settled", 1)

    @rule(
        who=WHO,
        model=MODELS,
        worst=AMOUNTS,
        pick=PICK,
        name=NAMES,
        body=st.sampled_from([b"x", b"x", b"y"]),
        again=st.booleans(),
    )
    def call_with_a_name(
        self, who: str, model: str, worst: int, pick: int, name: str, body: bytes, again: bool
    ) -> None:
        request = self._request(who, model, "key", worst, pick)
        self.world.hold_once(Once("chat", name, body), request)
        if again:
            self.world.hold_once(Once("chat", name, body), request)

    @precondition(lambda self: self.world.open_calls)
    @rule(pick=PICK, share=SHARES, again=st.booleans())
    def settle(self, pick: int, share: str, again: bool) -> None:
        call = _pick(self.world.open_calls, pick)
        for _ in range(1 + again):
            self.world.end(call, "settled", self._cost(call, share))

    @precondition(lambda self: self.world.open_calls)
    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        self.world.end(_pick(self.world.open_calls, pick), "released")

    @rule(ends=st.lists(ENDS, min_size=2, max_size=4))
    def ends_in_one_round_trip(self, ends: list[ChargeStatus]) -> None:
        calls = zip(self.world.open_calls, ends, strict=False)
        self.world.end_together([(call, end, call.request.worst_cost) for call, end in calls])

    @precondition(lambda self: self.world.calls)
    @rule(pick=PICK, status=ENDS)
    def end_what_may_have_ended(self, pick: int, status: ChargeStatus) -> None:
        self.world.end(_pick(self.world.calls, pick), status, 0)

    @rule(who=WHO)
    def end_what_never_began(self, who: str) -> None:
        ending = Ending(uuid7(), self.world.users[who].pk, "settled", 5, 1, 1)
        assert teller.resolve(ending) == "unknown"

    @precondition(lambda self: self.world.calls)
    @rule(pick=PICK, share=SHARES, owner=st.sampled_from(["its own", "its own", "another"]))
    def checkpoint(self, pick: int, share: str, owner: str) -> None:
        call = _pick(self.world.calls, pick)
        process = call.process if owner == "its own" else self.world.start_process()
        self.world.checkpoint(call, process, self._cost(call, share))

    # --- Time and processes ---------------------------------------------------------------------

    @rule(step=STEPS)
    def time_passes(self, step: timedelta) -> None:
        self._go_to(self.world.now + step)

    @rule(seconds_before=st.sampled_from([0, 1]))
    def month_ends(self, seconds_before: int) -> None:
        end = month_after(month_of(self.world.now)) - timedelta(seconds=seconds_before)
        self._go_to(end)

    @rule(pick=PICK, how=st.sampled_from(["freezes", "is killed", "leaves"]))
    def process_stops(self, pick: int, how: str) -> None:
        process = self.world.running.pop(pick % len(self.world.running))
        (self.world.frozen if how == "freezes" else self.world.gone).append(process)
        if how == "leaves":
            self.world.leave(process)
        if not self.world.running:
            self.world.start_process()

    @precondition(lambda self: self.world.frozen)
    @rule(pick=PICK)
    def process_goes_on(self, pick: int) -> None:
        process = self.world.frozen.pop(pick % len(self.world.frozen))
        self.world.running.append(process)
        self.world.beat(process)

    @rule()
    def sweep(self) -> None:
        self.world.sweep()

    # --- Money and plans ------------------------------------------------------------------------

    @rule(who=WHO, amount=AMOUNTS.filter(bool))
    def topup(self, who: str, amount: int) -> None:
        self.world.topup(who, uuid7(), amount)

    @rule(who=WHO, amount=st.sampled_from([5, 5, 50]), name=NAMES)
    def topup_with_a_name(self, who: str, amount: int, name: str) -> None:
        self.world.topup_once(who, Once("topup", name, amount.to_bytes()), amount)

    @rule(who=WHO, delta=st.sampled_from([-50, -5, -1, 1, 5]))
    def operator_adjusts(self, who: str, delta: int) -> None:
        self.world.adjust(who, uuid7(), delta)

    @rule(who=WHO, pick=PICK, more=st.sampled_from([0, 1]))
    def operation_is_repeated(self, who: str, pick: int, more: int) -> None:
        mine = LedgerEntry.objects.filter(account=self.world.users[who]).exclude(kind="charge")
        if entries := list(mine.order_by("seq")):
            self.world.repeat(_pick(entries, pick), more=more)

    @rule(who=WHO, plan=st.sampled_from([*PLANS, "platinum"]), forced=st.booleans())
    def plan_changes(self, who: str, plan: str, forced: bool) -> None:
        self.world.change_plan(who, plan, forced=forced)

    @rule(who=WHO, model=MODELS, granted=st.sampled_from([None, 0, 4, 25]))
    def contract_changes(self, who: str, model: str, granted: int | None) -> None:
        self.world.set_contract(who, model, granted)

    @rule(who=WHO, cap=st.sampled_from([0, 20, 40, 100, None]))
    def cap_changes(self, who: str, cap: int | None) -> None:
        key = next(key for key in self.world.keys_of(who) if not self.world.keys[key].models)
        ApiKey.objects.filter(pk=key).update(monthly_spend_cap=cap)
        self.world.keys[key].cap = cap

    @rule(who=WHO, pick=PICK)
    def key_is_replaced(self, who: str, pick: int) -> None:
        key = self._pick_key(who, pick)
        ApiKey.objects.filter(pk=key).update(revoked_at=self.world.now)
        self.world.keys[key].revoked = True
        self.world.open_key(who, Key(self.world.keys[key].cap, self.world.keys[key].models))

    @rule(who=WHO, active=st.sampled_from([True, True, False]))
    def account_is_suspended_or_not(self, who: str, active: bool) -> None:
        status = User.Status.ACTIVE if active else User.Status.SUSPENDED
        User.objects.filter(pk=self.world.users[who].pk).update(status=status)
        self.world.accounts[who].is_active = active

    # --- What holds after every step ------------------------------------------------------------

    @invariant()
    def the_invariants_hold(self) -> None:
        assert sweeps.find_violations() == []

    @invariant()
    def the_database_says_what_the_oracle_says(self) -> None:
        self.world.compare()

    # --- How it is done -------------------------------------------------------------------------

    def _request(
        self, who: str, model: str, via: str, worst: int, pick: int, seconds: int = 600
    ) -> HoldRequest:
        return self.world.request(
            who,
            model,
            worst=worst,
            owner=_pick([*self.world.running, *self.world.frozen], pick),
            key=self._pick_key(who, pick) if via == "key" else None,
            chat=via == "chat",
            title=via == "title",
            seconds=seconds,
        )

    def _pick_key(self, who: str, pick: int) -> UUID:
        return _pick(self.world.keys_of(who)[:3], pick)

    def _cost(self, call: Call, share: str) -> int:
        """A call of a capped key never costs more than its hold: that a cap is overshot by one
        request at most rests on it."""
        worst, key_id = call.request.worst_cost, call.request.api_key_id
        capped = key_id is not None and not self.world.keys[key_id].models
        more = worst if capped else worst + 7
        return {"none": 0, "half": worst // 2, "all": worst, "more": more}[share]

    def _go_to(self, moment: datetime) -> None:
        """The processes that run renewed their leases all the while."""
        self.world.set_clock(moment)
        for process in list(self.world.running):
            self.world.beat(process)


def _pick(items: Sequence[T], pick: int) -> T:
    return items[pick % len(items)]


@pytest.mark.django_db
def test_money_does_what_the_oracle_says_whatever_happens() -> None:
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=LIVES,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
