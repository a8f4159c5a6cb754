"""Why a charge is what it is: who called, what it cost and by which price, what was held, who paid,
what it moved, and why it failed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from admin_ui.related import find_related
from admin_ui.tables import Table, link
from ai.catalog.selectors import get_price
from billing.cost_steps import cost_steps
from billing.models import Allowance, Charge, LedgerEntry, Refund
from common.money import usd_text

# Of one request, and of one account: callers choose the ids of requests.
MAX_OF_A_REQUEST = 20
_ENDS = {
    Charge.Status.HELD: "The call runs: nothing is billed yet.",
    Charge.Status.SETTLED: "The call ended with output: its usage is billed.",
    Charge.Status.EXPIRED: "Nobody ended the call: the last checkpoint is billed.",
    Charge.Status.RELEASED: "The call ended without output: nothing is billed.",
}


def explain(charge: Charge, operator: Any) -> list[Table]:
    """The explanation of a charge, with links to what this operator may see."""
    refunds = list(Refund.objects.filter(charge=charge).order_by("created_at", "pk"))
    tables = (
        _failure(charge),
        _cost(charge, operator),
        _paid_by(charge),
        _hold(charge),
        _balances(charge, refunds, operator),
        _refunds(refunds),
        _moments(charge, refunds),
        _belongs(charge, operator),
    )
    return [table for table in tables if table is not None]


def _failure(charge: Charge) -> Table | None:
    failure = charge.failure
    if failure is None:
        return None
    rows = [
        ("our code", failure["code"]),
        ("what happened", failure.get("message", "")),
        ("provider", failure.get("provider", "")),
        ("the provider's HTTP status", failure.get("status", "")),
        ("the provider's own code", failure.get("reason", "")),
        ("attempts at the provider", failure.get("attempts", "")),
    ]
    return Table("Why it failed", ("", ""), [row for row in rows if row[1] != ""])


def _cost(charge: Charge, operator: Any) -> Table:
    note = _ENDS[Charge.Status(charge.status)]
    price = get_price(charge.price_version_id)
    if price is None or not charge.units:
        return Table("What it cost", (), [], note)
    rows = [
        (step.what, step.quantity, step.rate, step.amount)
        for step in cost_steps(price, charge.units, charge.cost)
    ]
    version = link(operator, "catalog.priceversion", charge.price_version_id, charge.price_version)
    rows.append(("price version", "", version, ""))
    return Table("What it cost", ("", "quantity", "price", "amount"), rows, note)


def _paid_by(charge: Charge) -> Table | None:
    if charge.status == Charge.Status.HELD:
        return None
    if charge.funding == Charge.Funding.PLATFORM:
        whose = "a free message" if charge.free_window_start else "the platform's own call"
        return Table("Who paid", (), [], f"The platform, {usd_text(charge.cost)}: {whose}.")
    rest = charge.cost - charge.charge_plan
    left = charge.allowance_left
    has_left = "no allowance of this model" if left is None else f"{usd_text(left)} left"
    rows = [
        (
            "plan, at cost",
            f"the cost, as far as the allowance goes: {has_left}",
            charge.charge_plan,
        ),
        ("balance, twice the rest", f"2 x {usd_text(rest)}", charge.charge_balance),
        ("billed", "", charge.charge_plan + charge.charge_balance),
    ]
    if charge.shortfall:
        rows.append(("written off", "the balance had no more", charge.shortfall))
    return Table("Who paid", ("", "how", "amount"), [(*row[:2], usd_text(row[2])) for row in rows])


def _hold(charge: Charge) -> Table:
    rows = [
        ("worst case, at cost", usd_text(charge.worst_cost)),
        ("held of the plan", usd_text(charge.hold_plan)),
        ("held of the balance, twice the rest", usd_text(charge.hold_balance)),
    ]
    if charge.cap_at_hold is not None:
        rows.append(("the key's cap in the month", usd_text(charge.cap_at_hold)))
        rows.append(("of it billed or held before", usd_text(charge.key_committed_before or 0)))
    return Table("What was held", ("", ""), rows)


def _balances(charge: Charge, refunds: list[Refund], operator: Any) -> Table:
    """The rows of the ledger and of the allowance that the charge and its refunds moved."""
    rows = [*_of_the_ledger(charge, refunds, operator), *_of_the_allowance(charge, refunds)]
    headers = ("what", "by", "before", "moved", "after")
    return Table("What it moved", headers, rows, _now(charge) if rows else "No money was moved.")


def _of_the_ledger(charge: Charge, refunds: list[Refund], operator: Any) -> Iterator[Any]:
    ids = [charge.pk, *(refund.pk for refund in refunds)]
    for entry in LedgerEntry.objects.filter(pk__in=ids).order_by("seq"):
        yield (
            "balance",
            link(operator, "billing.ledgerentry", entry.pk, f"{entry.kind}, no. {entry.seq}"),
            usd_text(entry.balance_after - entry.delta),
            usd_text(entry.delta),
            usd_text(entry.balance_after),
        )


def _of_the_allowance(charge: Charge, refunds: list[Refund]) -> Iterator[Any]:
    what = f"left of the allowance of {charge.month:%Y-%m}"
    if charge.allowance_left is not None and charge.charge_plan:
        yield _moved(what, "charge", charge.allowance_left, -charge.charge_plan)
    for refund in refunds:
        if refund.allowance_left is not None:
            yield _moved(what, "refund", refund.allowance_left, refund.to_allowance)


def _moved(what: str, by: str, before: int, delta: int) -> tuple[str, ...]:
    return (what, by, usd_text(before), usd_text(delta), usd_text(before + delta))


def _now(charge: Charge) -> str:
    """The allowance as it stands, after all other calls of the month."""
    row = Allowance.objects.filter(
        account_id=charge.account_id, model_id=charge.model_id, month=charge.month
    ).first()
    if row is None:
        return ""
    return (
        f"The allowance of {charge.month:%Y-%m} now: granted {usd_text(row.granted)}, used "
        f"{usd_text(row.used)}, held {usd_text(row.held)}."
    )


def _refunds(refunds: list[Refund]) -> Table | None:
    if not refunds:
        return None
    rows = [
        (
            _moment(refund.created_at),
            usd_text(refund.amount),
            usd_text(refund.to_balance),
            usd_text(refund.to_allowance),
            refund.reason,
        )
        for refund in refunds
    ]
    return Table(
        "Refunds", ("when", "amount", "to the balance", "to the allowance", "reason"), rows
    )


def _moments(charge: Charge, refunds: list[Refund]) -> Table:
    moments = [
        ("held", charge.admitted_at),
        ("first output, or first checkpoint with output", charge.first_output_at),
        (charge.status, charge.resolved_at),
        ("deadline", charge.deadline_at),
        *(("refund", refund.created_at) for refund in refunds),
    ]
    rows = [
        (what, _moment(when), f"{(when - charge.admitted_at).total_seconds():.3f} s")
        for what, when in moments
        if when is not None
    ]
    return Table("When", ("", "time (UTC)", "after the hold"), rows)


def _belongs(charge: Charge, operator: Any) -> Table:
    rows = [
        ("account", link(operator, "accounts.user", charge.account_id, charge.account), ""),
        ("model", link(operator, "catalog.aimodel", charge.model_id), charge.kind),
        ("plan at the time", link(operator, "billing.plan", charge.plan_id), ""),
    ]
    if charge.api_key is not None:
        rows.append(
            ("key", link(operator, "accounts.apikey", charge.api_key_id, charge.api_key), "")
        )
    rows += [
        (related.what, link(operator, related.model, related.key), related.state)
        for related in find_related(charge.pk)
    ]
    rows += [
        (
            "charge of the same request",
            link(operator, "billing.charge", other.pk),
            f"{other.kind}, {other.model_id}, {other.status}",
        )
        for other in _of_the_same_request(charge)
    ]
    if charge.group_id is not None:
        rows.append(("group that shares a budget", str(charge.group_id), ""))
    return Table("Where it belongs", ("", "", ""), rows)


def _of_the_same_request(charge: Charge) -> list[Charge]:
    """The newest of the request's other charges that are of the same account."""
    if not charge.request_id:
        return []
    found = Charge.objects.filter(request_id=charge.request_id).order_by("-pk")
    return [
        other
        for other in found[:MAX_OF_A_REQUEST]
        if other.account_id == charge.account_id and other.pk != charge.pk
    ]


def _moment(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M:%S.%f}"[:-3]
