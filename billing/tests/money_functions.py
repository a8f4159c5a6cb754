"""The money verbs with all that they answer, and all that the database says about some accounts."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.models import User
from ai.catalog.models import PriceVersion
from billing.services.endings import RESOLVE
from billing.services.holds import HOLD
from billing.tests.bank import BALANCE_ONLY
from billing.tests.oracle import Answer
from billing.types import Checkpoint, Ending, HoldRequest, RequestKey, as_json
from common.ids import uuid7

_ANSWER = tuple(each.name for each in dataclasses.fields(Answer))


def request(account: User, worst: int, *, owner: UUID) -> HoldRequest:
    """A call that the balance alone pays for."""
    price = PriceVersion.objects.get(model_id=BALANCE_ONLY).pk
    ids = (uuid7(), account.pk, None, BALANCE_ONLY, price)
    return HoldRequest(*ids, "job", "chat", worst, owner, seconds=600)


def hold(request: HoldRequest) -> Answer:
    [row] = _rows(HOLD, [as_json(request)])
    return _answer(row)


def hold_together(requests: Sequence[HoldRequest]) -> list[Answer]:
    """Several in one round trip, as a busy process sends them."""
    rows = _rows("SELECT * FROM money_hold_many(%s)", [as_json(requests)])
    return [_answer(row) for row in rows]


def hold_idempotently(request_key: RequestKey, request: HoldRequest) -> tuple[Answer, bytes | None]:
    """A call with a name, and the answer that it brought before."""
    [row] = _rows(
        "SELECT * FROM money_hold_idempotently(%s,%s,%s,%s)",
        [request_key.route, request_key.key, request_key.digest, as_json(request)],
    )
    answer = row.pop("answer")
    return _answer(row), answer


def resolve(ending: Ending) -> str:
    [row] = _rows(RESOLVE, [as_json(ending)])
    return str(row["outcome"])


def resolve_together(endings: Sequence[Ending]) -> list[str]:
    rows = _rows("SELECT * FROM money_resolve_many(%s)", [as_json(endings)])
    return [str(row["outcome"]) for row in rows]


def resolve_idempotently(request_key: RequestKey, answer: bytes, ending: Ending) -> str:
    """End a call with a name, and keep its answer if it is billed."""
    [row] = _rows(
        "SELECT * FROM money_resolve_idempotently(%s,%s,%s,%s)",
        [request_key.route, request_key.key, answer, as_json(ending)],
    )
    return str(row["outcome"])


def checkpoint(owner: UUID, charge: UUID, cost: int, tokens: tuple[int, int]) -> set[UUID]:
    """Returns the charges that are not that owner's to run."""
    rows = _rows(
        "SELECT * FROM money_checkpoint(%s, %s)",
        [
            [owner],
            as_json([Checkpoint(charge, {"tokens_in": tokens[0], "tokens_out": tokens[1]}, cost)]),
        ],
    )
    return {row["money_checkpoint"] for row in rows}


def heartbeat(owner: UUID, live: Iterable[UUID] = ()) -> set[UUID]:
    """Returns the charges that the owner holds without knowing."""
    _rows("SELECT lease_renew(%s, 'test')", [owner])
    rows = _rows("SELECT * FROM unknown_charges(%s, %s)", [owner, list(live)])
    return {row["unknown_charges"] for row in rows}


@dataclass
class Statement:
    """One account, as the database has it. Months without anything are left out of `key_months`."""

    plan: str
    balance: int
    held: int
    open_charges: int
    ledger: list[tuple[str, int, int]] = field(default_factory=list)
    charges: dict[UUID, tuple[Any, ...]] = field(default_factory=dict)
    allowances: dict[tuple[str, date], tuple[int, int, int]] = field(default_factory=dict)
    key_months: dict[tuple[UUID, date], tuple[int, int, int]] = field(default_factory=dict)
    windows: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    days: dict[tuple[UUID | None, str, date], tuple[int, int, int, int]] = field(
        default_factory=dict
    )


def statements(accounts: Sequence[UUID]) -> dict[UUID, Statement]:
    """What the database says about each of the accounts."""
    found = {
        account: Statement(plan, balance, held, open_charges)
        for account, plan, balance, held, open_charges in _select(
            "account_id, plan_id, balance, held, open_charges FROM billing_wallet"
            " JOIN billing_subscription USING (account_id)",
            accounts,
        )
    }
    for account, kind, delta, after in _select(
        "account_id, kind, delta, balance_after FROM billing_ledgerentry", accounts, "ORDER BY seq"
    ):
        found[account].ledger.append((kind, delta, after))
    for account, charge, *rest in _select(
        "account_id, id, status, funding, plan_id, month, hold_plan, hold_balance, cost,"
        " charge_plan, charge_balance, shortfall, coalesce((units ->> 'tokens_in')::int, 0),"
        " coalesce((units ->> 'tokens_out')::int, 0) FROM billing_charge",
        accounts,
    ):
        found[account].charges[charge] = tuple(rest)
    for account, model, month, granted, used, held in _select(
        "account_id, model_id, month, granted, used, held FROM billing_allowance", accounts
    ):
        found[account].allowances[model, month] = (granted, used, held)
    for account, key, month, billed, held, requests in _select(
        "account_id, api_key_id, month, billed, held, requests"
        " FROM billing_keymonth JOIN accounts_apikey ON id = api_key_id",
        accounts,
        "AND billed + held + requests > 0",
    ):
        found[account].key_months[key, month] = (billed, held, requests)
    for account, model, began, used in _select(
        "account_id, model_id, window_start, used FROM billing_freewindow", accounts
    ):
        found[account].windows[model] = (began, used)
    for account, key, model, day, *sums in _select(
        "account_id, api_key_id, model_id, day, requests, tokens_in, tokens_out, billed"
        " FROM billing_usagedaily",
        accounts,
    ):
        found[account].days[key, model, day] = (sums[0], sums[1], sums[2], sums[3])
    return found


def _answer(row: dict[str, Any]) -> Answer:
    return Answer(**{name: row[name] for name in _ANSWER})


def _select(what: str, accounts: Sequence[UUID], rest: str = "") -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {what} WHERE account_id = ANY (%s) {rest}", [list(accounts)])
        return list(cursor.fetchall())


def _rows(sql: str, parameters: Sequence[Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        columns = [column.name for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
