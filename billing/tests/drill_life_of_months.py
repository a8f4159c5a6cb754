"""Calls, refunds, checks, closings and drops in any order: the books say what was paid.

Everything commits: what a pass of `reconcile` has seen depends on it. Each life has a year of its
own, long ago, and leaves none of its charges.
"""

import os
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import count
from uuid import UUID

import pytest
from django.db import DatabaseError
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from accounts.models import User
from billing.errors import NothingToRefund
from billing.models import Allowance, Charge, ChargeTotal, GroupTotal
from billing.services import balance, groups, months, reconciliation
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    expire,
    hold,
    live_owner,
    new_account,
    release,
    settle,
    wallet_of,
)
from common.ids import uuid7

pytestmark = pytest.mark.usefixtures("committed")

_years = count(1980)
BALANCE = 1_000_000
WORST = 100
MONTHS = st.sampled_from([1, 2, 3])
PICK = st.integers(0, 7)


@dataclass
class Call:
    id: UUID
    period: date
    model: str
    billed: int | None = None  # None while it is held
    refunded: int = 0


@dataclass
class Month:
    calls: list[Call] = field(default_factory=list)
    is_closed: bool = False
    is_dropped: bool = False


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        year = next(_years)
        self.months = {number: Month() for number in (1, 2, 3)}
        self.period = {number: date(year, number, 1) for number in self.months}
        for period in self.period.values():
            months.add_month(period)
        self.owner = live_owner()
        self.account: User = new_account(balance=BALANCE)
        self.group = uuid7()
        groups.create_group(group_id=self.group, account=self.account, budget=BALANCE)

    # --- Calls ----------------------------------------------------------------------------------

    @rule(number=MONTHS, model=st.sampled_from([BALANCE_ONLY, IN_PLAN]), grouped=st.booleans())
    def begin(self, number: int, model: str, grouped: bool) -> None:
        period, month = self.period[number], self.months[number]
        charge = uuid7(datetime(period.year, period.month, 9, tzinfo=UTC))
        group = self.group if grouped else None

        def held() -> str:
            return hold(
                self.account, WORST, owner=self.owner, charge=charge, model=model, group=group
            )[0]

        if month.is_closed:
            with pytest.raises(DatabaseError, match=r"append-only|is closed"):
                held()
        else:
            assert held() == "held"
            month.calls.append(Call(charge, period, model))

    @rule(pick=PICK, how=st.sampled_from(["half", "all", "released", "expired"]))
    def end(self, pick: int, how: str) -> None:
        if not (open_calls := [call for call in self.calls if call.billed is None]):
            return
        call = open_calls[pick % len(open_calls)]
        match how:
            case "released":
                assert release(call.id) == "resolved"
                call.billed = 0
            case "expired":
                assert expire(call.id) == "resolved"
                call.billed = 0
            case _:
                cost = WORST if how == "all" else WORST // 2
                assert settle(call.id, cost) == "resolved"
                call.billed = cost if call.model == IN_PLAN else 2 * cost

    @rule(pick=PICK)
    def refund(self, pick: int) -> None:
        kept = [call for call in self.calls if call.billed]
        if not kept:
            return
        call = kept[pick % len(kept)]
        charge = Charge.objects.get(pk=call.id)
        if call.refunded == call.billed:
            with pytest.raises(NothingToRefund):
                balance.refund(operation_id=uuid7(), charge=charge, amount=None, reason="test")
            return
        part = 10
        balance.refund(operation_id=uuid7(), charge=charge, amount=part, reason="test")
        call.refunded += part

    # --- Months ---------------------------------------------------------------------------------

    @rule()
    def reconcile(self) -> None:
        assert reconciliation.check_changes() == []

    @rule(number=MONTHS)
    def close(self, number: int) -> None:
        month = self.months[number]
        if any(call.billed is None for call in month.calls):
            with pytest.raises(months.MonthRefused, match="held"):
                months.close_month(self.period[number])
        else:
            assert months.close_month(self.period[number]).charges == len(month.calls)
            month.is_closed = True

    @rule(number=MONTHS)
    def drop(self, number: int) -> None:
        month = self.months[number]
        if not month.is_closed:
            with pytest.raises(months.MonthRefused, match="not closed"):
                months.drop_month(self.period[number])
        else:
            months.drop_month(self.period[number])
            month.is_dropped = True

    # --- What holds after every step ------------------------------------------------------------

    @invariant()
    def the_invariants_hold(self) -> None:
        assert reconciliation.find_violations() == []

    @invariant()
    def the_account_has_what_the_calls_left(self) -> None:
        every = [call for month in self.months.values() for call in month.calls]
        paid = {
            model: sum((call.billed or 0) - call.refunded for call in every if call.model == model)
            for model in (BALANCE_ONLY, IN_PLAN)
        }
        assert wallet_of(self.account).balance == BALANCE - paid[BALANCE_ONLY]
        used = Allowance.objects.filter(account=self.account).first()
        assert (used.used if used else 0) == paid[IN_PLAN]

    @invariant()
    def the_rows_are_those_of_the_months_that_are_kept(self) -> None:
        kept = set(Charge.objects.filter(account=self.account).values_list("pk", flat=True))
        assert kept == {call.id for call in self.calls}

    @precondition(lambda self: any(month.is_closed for month in self.months.values()))
    @invariant()
    def closed_months_have_their_totals(self) -> None:
        for number, month in self.months.items():
            if month.is_closed:
                totals = ChargeTotal.objects.filter(
                    account=self.account, period=self.period[number]
                )
                assert sum(total.plan + total.balance for total in totals) == sum(
                    call.billed or 0 for call in month.calls
                )

    @property
    def calls(self) -> list[Call]:
        """Those whose rows are kept."""
        return [
            call for month in self.months.values() if not month.is_dropped for call in month.calls
        ]

    def teardown(self) -> None:
        for call in self.calls:
            release(call.id)
        for period in self.period.values():
            months.close_month(period)
            months.drop_month(period)
        assert reconciliation.check_changes() == []
        billed = sum(total.billed for total in GroupTotal.objects.filter(group_id=self.group))
        self.account.charge_groups.get(pk=self.group, billed=billed)


def test_the_books_say_what_was_paid_whatever_months_are_closed_and_dropped() -> None:
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=int(os.environ.get("LIVES", "3")),
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
