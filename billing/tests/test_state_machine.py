"""Any sequence of money verbs: a model in Python says what each must answer."""

from dataclasses import dataclass, field
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from billing.services import balance as balance_services
from billing.services.sweeps import find_violations
from billing.tests import bank
from billing.tests.bank import BALANCE_ONLY
from common.ids import uuid7
from tests.personas import new_key

# Small numbers collide: balances that just cover a hold, caps that are just reached.
AMOUNTS = st.sampled_from([0, 1, 2, 3, 5, 8, 50])
CAP = 40


@dataclass
class Books:
    """What the wallet and the key's month should say. Everything is paid from the balance."""

    balance: int = 0
    billed: int = 0
    held: dict[UUID, int] = field(default_factory=dict)

    @property
    def held_total(self) -> int:
        return sum(self.held.values())

    def verdict(self, worst: int) -> str:
        if self.billed >= CAP:
            return "spend_cap_reached"
        if self.billed + self.held_total >= CAP:
            return "spend_cap_in_flight"
        free = self.balance - self.held_total
        if 2 * worst > free:
            return "insufficient_for_request" if free else "insufficient_balance"
        return "held"


class Money(RuleBasedStateMachine):
    charges: Bundle[UUID] = Bundle("charges")

    @initialize()
    def open_account(self) -> None:
        self.account = bank.new_account(balance=0)
        self.key, _ = new_key(self.account, cap=CAP)
        self.owner = bank.live_owner()
        self.books = Books()

    @rule(amount=AMOUNTS.filter(bool))
    def topup(self, amount: int) -> None:
        balance_services.topup(operation_id=uuid7(), account=self.account, amount=amount)
        self.books.balance += amount

    @rule(target=charges, worst=AMOUNTS)
    def hold(self, worst: int) -> UUID:
        expected = self.books.verdict(worst)
        verdict, charge = bank.hold(
            self.account, worst, owner=self.owner, key=self.key, model=BALANCE_ONLY
        )
        assert verdict == expected
        if verdict == "held":
            self.books.held[charge] = 2 * worst
        return charge

    @rule(charge=charges, cost=AMOUNTS)
    def settle(self, charge: UUID, cost: int) -> None:
        outcome = bank.settle(charge, cost)
        if charge not in self.books.held:
            assert outcome in ("already", "unknown")
            return
        free = self.books.balance - self.books.held_total
        paid = min(2 * cost, self.books.held.pop(charge) + free)
        self.books.balance -= paid
        self.books.billed += paid

    @rule(charge=charges)
    def release(self, charge: UUID) -> None:
        bank.release(charge)
        self.books.held.pop(charge, None)

    @rule(charge=charges, share=st.floats(0, 1))
    def die_after_a_checkpoint(self, charge: UUID, share: float) -> None:
        if charge not in self.books.held:
            return
        held = self.books.held.pop(charge)
        cost = int(held // 2 * share)
        bank.checkpoint(self.owner, charge, cost)
        bank.expire(charge)
        self.books.balance -= 2 * cost
        self.books.billed += 2 * cost

    @invariant()
    def wallet_says_what_the_books_say(self) -> None:
        wallet = bank.wallet_of(self.account)
        assert (wallet.balance, wallet.held) == (self.books.balance, self.books.held_total)
        assert wallet.open_charges == len(self.books.held)

    def teardown(self) -> None:
        assert find_violations() == []
        for charge in list(self.books.held):
            bank.release(charge)


@pytest.mark.usefixtures("committed")
def test_money_does_what_the_books_say_in_any_order() -> None:
    run_state_machine_as_test(
        Money,
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert connection.connection is not None
