"""A month in the life of three accounts: whatever moves money, in any order, at any time.

An oracle says what each step must answer, and what the database must then say about every account;
the invariants hold after every step. What happens at the same time is for test_concurrency.py.

How to live through more lives: tests/lives.py.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from accounts.models import ApiKey, User
from billing.models import LedgerEntry
from billing.services import reconciliation
from billing.tests.happenings import (
    AMOUNTS,
    BALANCE_ONLY,
    BEGINS,
    ENDS,
    EVENTS,
    FREE_MODELS,
    IN_PLAN,
    LOCKED,
    MODELS,
    NAMES,
    PERSONAS,
    PICK,
    PLANS,
    WHO,
    Begin,
    Checkpoint,
    End,
    Event,
    Wait,
)
from billing.tests.oracle import WINDOW, Call, Key
from billing.tests.terms import month_after, month_of
from billing.tests.world import World
from billing.types import ChargeStatus, HoldRequest, RequestKey
from common.ids import uuid7
from tests.lives import RolledBackLife, live_through

T = TypeVar("T")

# The last evening of a month, late enough that no deadline has passed by the system's clock.
BEGIN = datetime(2099, 1, 31, 20, tzinfo=UTC)


class Life(RolledBackLife):
    """Each step is something rare, and then the calls of every day: hypothesis leaves some of the
    rules out of each life, and no life shall be without calls."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(BEGIN, PLANS, FREE_MODELS)

    @initialize(
        plans=st.permutations(["max", "free", "enterprise"]),
        balance=st.sampled_from([200, 40, 5, 0]),
        granted=st.sampled_from([25, 4, None]),
    )
    def begin(self, plans: list[str], balance: int, granted: int | None) -> None:
        for who, plan in zip(PERSONAS, plans, strict=True):
            self.world.open_account(who, plan)
            self.world.open_key(who, Key(cap=None, models=frozenset({IN_PLAN, BALANCE_ONLY})))
            self.world.open_key(who, Key(cap=40))
            self.world.set_contract(who, IN_PLAN, granted)
            if balance:
                self.world.topup(who, uuid7(), balance)
        self.world.start_process()
        self.world.start_process()

    # --- Whatever else happens, calls begin and end ----------------------------------------------

    @rule(then=EVENTS)
    def calls(self, then: list[Event]) -> None:
        self._happen(then)

    @rule(begins=st.lists(BEGINS, max_size=4), ends=st.lists(ENDS, max_size=4), then=EVENTS)
    def calls_in_one_round_trip(
        self, begins: list[Begin], ends: list[End], then: list[Event]
    ) -> None:
        self.world.hold_together([self._request(begin) for begin in begins])
        chosen = [(_pick(calls, end.pick), end) for end in ends if (calls := self._calls(end))]
        self.world.end_together(
            [(call, end.status, self._cost(call, end.share)) for call, end in chosen]
        )
        self._happen(then)

    @rule(
        pick=PICK,
        model=st.sampled_from([IN_PLAN, IN_PLAN, LOCKED]),
        count=st.sampled_from([11, 3, 1]),
        broken=st.booleans(),
        pause=st.sampled_from([timedelta(), WINDOW - timedelta(seconds=1), WINDOW]),
        then=EVENTS,
    )
    def chat(
        self,
        pick: int,
        model: str,
        count: int,
        broken: bool,
        pause: timedelta,
        then: list[Event],
    ) -> None:
        """Many messages, and one after a pause; if `broken`, nothing comes of each second."""
        accounts = self.world.accounts
        free = [who for who, account in accounts.items() if account.plan.key == "free"]
        who = _pick(free or list(PERSONAS), pick)
        for number in range(count):
            self._message(who, model, "released" if broken and number % 2 else "settled")
        self._wait(Wait(pause, sweep=False))
        self._message(who, model, "settled")
        self._happen(then)

    @rule(
        pick=PICK, how=st.sampled_from(["freezes", "is killed", "leaves", "goes on"]), then=EVENTS
    )
    def process(self, pick: int, how: str, then: list[Event]) -> None:
        if how == "goes on":
            for process in self.world.frozen:
                self.world.beat(process)
            self.world.running += self.world.frozen
            self.world.frozen = []
        else:
            process = self.world.running.pop(pick % len(self.world.running))
            (self.world.frozen if how == "freezes" else self.world.gone).append(process)
            if how == "leaves":
                self.world.leave(process)
            if not self.world.running:
                self.world.start_process()

        self._happen(then)

    @rule(
        who=WHO,
        amount=AMOUNTS.filter(bool),
        how=st.sampled_from(["topup", "adjust", "take", "take what is free", "take one more"]),
        then=EVENTS,
    )
    def money(self, who: str, amount: int, how: str, then: list[Event]) -> None:
        account = self.world.accounts[who]
        free = account.balance - account.held
        deltas = {"adjust": amount, "take": -amount, "take what is free": -free}
        if how == "topup":
            self.world.topup(who, uuid7(), amount)
        else:
            self.world.adjust(who, uuid7(), deltas.get(how, -free - 1))
        self._happen(then)

    @rule(
        who=WHO,
        amounts=st.lists(st.sampled_from([5, 5, 50]), min_size=1, max_size=2),
        name=NAMES,
        then=EVENTS,
    )
    def topups_with_a_name(
        self, who: str, amounts: list[int], name: str, then: list[Event]
    ) -> None:
        for amount in amounts:
            self.world.topup_idempotently(who, RequestKey("topup", name, amount.to_bytes()), amount)
        self._happen(then)

    @rule(who=WHO, pick=PICK, more=st.sampled_from([0, 1]), then=EVENTS)
    def operation_is_repeated(self, who: str, pick: int, more: int, then: list[Event]) -> None:
        mine = LedgerEntry.objects.filter(account=self.world.users[who]).exclude(kind="charge")
        if entries := list(mine.order_by("seq")):
            self.world.repeat(_pick(entries, pick), more=more)
        self._happen(then)

    @rule(
        who=WHO,
        plans=st.lists(st.tuples(st.sampled_from([*PLANS, "platinum"]), st.booleans()), max_size=3),
        then=EVENTS,
    )
    def plan_changes(self, who: str, plans: list[tuple[str, bool]], then: list[Event]) -> None:
        for plan, forced in plans:
            self.world.change_plan(who, plan, forced=forced)
        self._happen(then)

    @rule(who=WHO, model=MODELS, granted=st.sampled_from([4, 25, 0, None]), then=EVENTS)
    def contract_changes(
        self, who: str, model: str, granted: int | None, then: list[Event]
    ) -> None:
        self.world.set_contract(who, model, granted)
        self._happen(then)

    @rule(
        who=WHO,
        pick=PICK,
        what=st.sampled_from(["cap", "key", "suspended for a while"]),
        then=EVENTS,
    )
    def access_changes(self, who: str, pick: int, what: str, then: list[Event]) -> None:
        match what:
            case "cap":
                self._change_cap(who, _pick([20, 40, 100, 0, None], pick))
            case "key":
                self._replace_key(self._key(who, pick), who)
            case _:
                self._change_status(who, active=False)
        self._happen(then)
        if not self.world.accounts[who].is_active:
            self._change_status(who, active=True)

    # --- What holds after every step ------------------------------------------------------------

    @invariant()
    def the_invariants_hold(self) -> None:
        assert reconciliation.find_violations() == []

    @invariant()
    def the_database_says_what_the_oracle_says(self) -> None:
        self.world.compare()

    @invariant()
    def each_name_is_paid_once(self) -> None:
        for account in self.world.accounts.values():
            for named in account.names.values():
                attempts = (account.calls.get(each) for each in (*named.earlier, named.operation))
                assert sum(call is not None and call.keeps_key for call in attempts) <= 1

    # --- How it is done -------------------------------------------------------------------------

    def _happen(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case Begin():
                    self._begin_call(event)
                case End() if calls := self._calls(event):
                    call = _pick(calls, event.pick)
                    self.world.end(call, event.status, self._cost(call, event.share))
                case Checkpoint() if calls := self.world.calls:
                    call = _pick(calls, event.pick)
                    owner = call.process if event.its_own else self.world.start_process()
                    self.world.checkpoint(call, owner, self._cost(call, event.share))
                case Wait():
                    self._wait(event)

    def _message(self, who: str, model: str, status: ChargeStatus) -> None:
        request = self._request(Begin(who, model, worst=1, via="chat", pick=0))
        if self.world.hold(request) == "held":
            self.world.end(self.world.accounts[who].calls[request.charge_id], status, 1)

    def _wait(self, wait: Wait) -> None:
        """The processes that run renewed their leases all the while."""
        moment = month_after(month_of(self.world.now))
        match wait.how_long:
            case timedelta() as step:
                moment = self.world.now + step
            case "to a second before":
                moment -= timedelta(seconds=1)
        self.world.set_clock(moment)
        for process in list(self.world.running):
            self.world.beat(process)
        if wait.sweep:
            self.world.sweep()

    def _begin_call(self, begin: Begin) -> None:
        request = self._request(begin)
        verdict = self._hold(begin.request_key, request)
        match begin.reply:
            case "is asked for again":
                self._hold(begin.request_key, request)
            case "is asked for too late" if verdict == "held":
                call = self.world.accounts[begin.who].calls[request.charge_id]
                self.world.end(call, "settled" if begin.pick % 2 else "released", begin.worst)
                self._hold(begin.request_key, request)
            case "is lost":
                self.world.unheard.add(request.charge_id)

    def _hold(self, request_key: RequestKey | None, request: HoldRequest) -> str:
        return (
            self.world.hold_idempotently(request_key, request)
            if request_key
            else self.world.hold(request)
        )

    def _request(self, begin: Begin) -> HoldRequest:
        return self.world.request(
            begin.who,
            begin.model,
            worst=begin.worst,
            owner=_pick([*self.world.running, *self.world.frozen], begin.pick),
            key=self._key(begin.who, begin.pick) if begin.via == "key" else None,
            chat=begin.via == "chat",
            title=begin.via == "title",
            seconds=begin.seconds,
        )

    def _calls(self, end: End) -> list[Call]:
        return self.world.calls if end.late else self.world.open_calls

    def _key(self, who: str, pick: int) -> UUID:
        """One of the last three, revoked ones among them."""
        return _pick(self.world.keys_of(who)[:3], pick)

    def _change_cap(self, who: str, cap: int | None) -> None:
        key = next(key for key in self.world.keys_of(who) if not self.world.keys[key].models)
        ApiKey.objects.filter(pk=key).update(monthly_spend_cap=cap)
        self.world.keys[key].cap = cap

    def _replace_key(self, key: UUID, who: str) -> None:
        ApiKey.objects.filter(pk=key).update(revoked_at=self.world.now)
        self.world.keys[key].revoked = True
        self.world.open_key(who, Key(self.world.keys[key].cap, self.world.keys[key].models))

    def _change_status(self, who: str, *, active: bool) -> None:
        status = User.Status.ACTIVE if active else User.Status.SUSPENDED
        User.objects.filter(pk=self.world.users[who].pk).update(status=status)
        self.world.accounts[who].is_active = active

    def _cost(self, call: Call, share: str) -> int:
        """A call of a capped key never costs more than its hold: that a cap is overshot by one
        request at most rests on it."""
        worst, key_id = call.request.worst_cost, call.request.api_key_id
        capped = key_id is not None and not self.world.keys[key_id].models
        more = worst if capped else worst + 7
        return {"none": 0, "half": worst // 2, "all": worst, "more": more}[share]


def _pick(items: Sequence[T], pick: int) -> T:
    return items[pick % len(items)]


@pytest.mark.django_db
def test_money_does_what_the_oracle_says_whatever_happens() -> None:
    live_through(Life, lives=6, steps=25)
