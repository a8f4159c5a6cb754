"""Money that moves without a call: top-ups, adjustments, refunds, plan changes and contracts."""

from uuid import UUID

from accounts.models import User
from billing.errors import (
    BalanceTooLarge,
    BelowHeld,
    ChargeDropped,
    ChargeRunning,
    IdempotencyMismatch,
    NothingToRefund,
    PlanByContract,
    RefundTooLarge,
    SamePlan,
    UnknownPlan,
    UsageExceedsPlan,
)
from billing.models import Charge, LedgerEntry, Refund, Subscription, Wallet
from billing.queries import fetch_row
from billing.selectors.subscriptions import CurrentSubscription
from billing.types import RequestKey, columns_of
from common.errors import Conflict, NotFound


def topup(
    *,
    operation_id: UUID,
    account: User,
    amount: int,
    description: str = "Top-up",
    request_key: RequestKey | None = None,
) -> LedgerEntry:
    """Add nano-USD to a balance, once per `operation_id`, and once per `request_key` if there is
    one.

    Returns the entry, whether this call or an earlier one wrote it. Raises BalanceTooLarge,
    IdempotencyMismatch.
    """
    if request_key is None:
        return _move(operation_id, account, "topup", amount, description)
    outcome, entry_id = fetch_row(
        "SELECT * FROM money_move_idempotently(%s, %s, %s, %s, %s, 'topup', %s, %s)",
        *columns_of(request_key),
        operation_id,
        account.pk,
        amount,
        description,
    )
    return _entry(outcome, entry_id)


def adjust(*, operation_id: UUID, account: User, delta: int, reason: str) -> LedgerEntry:
    """Correct a balance by an operator's decision, once per `operation_id`. Returns the entry.

    Raises BelowHeld where running calls hold more than would be left, or BalanceTooLarge.
    """
    return _move(operation_id, account, "adjust", delta, reason)


def refund(*, operation_id: UUID, charge: Charge, reason: str, amount: int | None = None) -> Refund:
    """Give back `amount` nano-USD of what a charge billed, or all that was not refunded yet, to its
    source, once per `operation_id`. Returns the refund, whether this call or an earlier one made
    it.

    Raises ChargeRunning, ChargeDropped, NothingToRefund, RefundTooLarge, BalanceTooLarge, and
    Conflict where the id belongs to another operation.
    """
    outcome, plan_part, balance_part = fetch_row(
        "SELECT * FROM money_refund(%s, %s, %s, %s)", operation_id, charge.pk, amount, reason
    )
    match outcome:
        case "done" | "already":
            return Refund.objects.get(pk=operation_id)
        case "running":
            raise ChargeRunning
        case "unknown":
            raise ChargeDropped
        case "nothing_left":
            raise NothingToRefund
        case "too_much":
            raise RefundTooLarge.of_charge(plan_part + balance_part)
        case "too_large":
            raise BalanceTooLarge
        case "conflict":
            raise Conflict("This operation was carried out before, for another charge or amount.")
        case _:
            raise ValueError(outcome)


def change_plan(*, account: User, plan: str, forced: bool = False) -> None:
    """Put an account on another plan from now on; running calls keep what they hold.

    Raises UnknownPlan; and unless `forced`, SamePlan, or UsageExceedsPlan where this month's usage
    of a model exceeds the new plan's allowance.
    """
    outcome, model = fetch_row(
        "SELECT * FROM money_change_plan(%s, %s, %s)", account.pk, plan, forced
    )
    if not (outcome == "same" and forced):
        _check_plan(outcome, plan, model)


def upgrade(
    *, account: User, plan: str, request_key: RequestKey | None = None
) -> CurrentSubscription:
    """Change the plan at the customer's request, once per `request_key` if there is one.

    Returns the subscription after the change, whether this call or an earlier one made it. Raises
    the errors of `change_plan`, PlanByContract, and IdempotencyMismatch.
    """
    outcome, model, month = fetch_row(
        "SELECT * FROM money_upgrade(%s, %s, %s, %s, %s)",
        *columns_of(request_key),
        account.pk,
        plan,
    )
    _check_plan(outcome, plan, model)
    return CurrentSubscription(plan, Subscription.Status.ACTIVE, month, outcome == "already")


def set_contract(*, account: User, model_id: str, granted: int | None) -> None:
    """Set the nano-USD at cost that a contract grants an account of a model each month; None
    removes it.

    It counts on a plan whose price is agreed by contract.
    """
    fetch_row("SELECT money_set_contract(%s, %s, %s)", account.pk, model_id, granted)


def _check_plan(outcome: str, plan: str, model: str) -> None:
    """Raise the error of an outcome of `money_change_plan` or `money_upgrade`."""
    match outcome:
        case "done" | "already":
            return
        case "same":
            raise SamePlan
        case "unknown":
            raise UnknownPlan.of("plan", f"There is no plan named {plan!r}.")
        case "exceeded":
            raise UsageExceedsPlan.by_usage(model)
        case "in_flight":
            raise UsageExceedsPlan.by_running_calls(model)
        case "by_contract":
            raise PlanByContract
        case "idempotency_mismatch":
            raise IdempotencyMismatch
        case _:
            raise ValueError(outcome)


def _move(
    operation_id: UUID, account: User, kind: str, delta: int, description: str
) -> LedgerEntry:
    (outcome,) = fetch_row(
        "SELECT outcome FROM money_move(%s, %s, %s, %s, %s)",
        operation_id,
        account.pk,
        kind,
        delta,
        description,
    )
    if outcome == "below_held":
        wallet = Wallet.objects.get(pk=account.pk)
        raise BelowHeld.of_wallet(wallet.balance, wallet.held)
    return _entry(outcome, operation_id)


def _entry(outcome: str, entry_id: UUID) -> LedgerEntry:
    """The entry that `money_move` wrote. Raises the error of its outcome."""
    match outcome:
        case "done" | "already":
            return LedgerEntry.objects.get(pk=entry_id)
        case "too_large":
            raise BalanceTooLarge
        case "conflict":
            raise Conflict("This operation was carried out before, for another account or amount.")
        case "idempotency_mismatch":
            raise IdempotencyMismatch
        case "unknown":
            raise NotFound("There is no such account.")
        case _:
            raise ValueError(outcome)
