"""What an account could pay now: the arithmetic of `money_hold` in Python.

The hold decides. This module is for early refusals and for estimates.
"""

from typing import Any

from msgspec import Struct

from accounts.models import User
from billing.errors import InsufficientBalance, InsufficientForRequest, PaymentRequired
from billing.selectors.billing_snapshot import get_billing_snapshot
from billing.types import Funds
from common.money import NUSD_PER_CENT, usd


class Payment(Struct, frozen=True):
    """What a call is paid with, in nano-USD: by the plan at cost, by the balance at twice that."""

    plan: int
    balance: int

    @property
    def total(self) -> int:
        return self.plan + self.balance


class SpendingPower(Struct):
    """What an account can pay with, in nano-USD: its free balance, and the rest of this month's
    allowance of each model. `balance` and `unspent` are the same with what running calls hold, and
    with what is paid here."""

    plan: str
    available: int
    allowances: dict[str, int]
    balance: int
    unspent: dict[str, int]

    def price(self, model_id: str, cost: int) -> Payment:
        """How a call of that cost is paid."""
        from_plan = min(cost, self.allowances.get(model_id, 0))
        return Payment(from_plan, 2 * (cost - from_plan))

    def payable(self, model_id: str) -> int:
        """What plan and balance could pay together for calls of this model."""
        return self.allowances.get(model_id, 0) + max(0, self.available)

    def most(self, model_id: str, within: int | None = None) -> int:
        """The highest worst-case cost that a hold admits. `within`: what plan and balance may pay
        together, if there is such a bound."""
        total = self.payable(model_id)
        paid = total if within is None else max(0, min(total, within))
        from_plan = min(paid, self.allowances.get(model_id, 0))
        return from_plan + (paid - from_plan) // 2

    def pay(self, model_id: str, cost: int) -> Payment:
        """Like `price`, and subtract the payment, for the calls that follow."""
        payment = self.price(model_id, cost)
        if payment.plan:
            self.allowances[model_id] -= payment.plan
        self.available -= payment.balance
        return payment

    def refusal_of(self, model_id: str, worst_cost: int) -> PaymentRequired | None:
        """The error of a hold of that worst-case cost, or None where it is admitted."""
        payment = self.price(model_id, worst_cost)
        if payment.balance <= self.available:
            return None
        afford = self.allowances.get(model_id, 0) + self.available
        payer: dict[str, Any] = {
            "model_key": model_id,
            "plan": self.plan,
            "funds": Funds(self.balance, self.balance - self.available),
            "needed": payment.total,
            "is_held": 2 * max(0, worst_cost - self.unspent.get(model_id, 0)) <= self.balance,
        }
        if afford < NUSD_PER_CENT:
            return InsufficientBalance(**payer)
        return InsufficientForRequest(**payer, afford_usd=usd(afford))


def get_spending_power(user: User) -> SpendingPower:
    """What the user can pay with now. One query."""
    snapshot = get_billing_snapshot(user)
    funds, allowances = snapshot.funds, snapshot.allowances
    return SpendingPower(
        plan=snapshot.plan,
        available=funds.available,
        allowances={each.model: each.remaining for each in allowances},
        balance=funds.balance,
        unspent={each.model: each.unspent for each in allowances},
    )
