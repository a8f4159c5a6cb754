"""Books that are kept for years: `reconcile` over a long past, and months that are closed and
dropped, beside holds and settlements."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Self

import psutil
from django.db import connection, transaction
from psycopg import sql

from ai.catalog.models import PriceVersion
from bench import pgbench, seed
from bench.report import Target, milliseconds
from bench.servers import BenchError
from billing.invariants import Violation
from billing.models import Charge
from billing.services import months
from billing.services.reconciliation import check_changes, check_everything

# A year, in which every account makes so many calls a month on so many days.
MONTHS = 12
ACCOUNTS, CALLS, DAYS = 2_000, 420, 8
_MODEL = "text-embedding-3-small"  # the balance pays for it alone
_PAIRS_SECONDS = 8
_BUSY = 200  # accounts that go on calling

# An id, a day and a number in the account's ledger for each call of a month.
_MAKE = """
CREATE TEMP TABLE made ON COMMIT DROP AS
SELECT uuidv7(at - clock_timestamp()) AS id, at, n, payer.*
FROM generate_series(0, %(calls)s - 1) n
CROSS JOIN LATERAL (SELECT (%(month)s::date + n %% %(days)s * 3)::timestamp AT TIME ZONE 'UTC'
                           + interval '1 hour' AS at) made
CROSS JOIN bench_payer payer
"""
# A table of its own at first: its indexes are made when it is attached, which is much faster.
_TABLE = """
CREATE TABLE {name} (LIKE billing_charge INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
WITH (fillfactor = 80)
"""
_ATTACH = "ALTER TABLE billing_charge ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({next})"
_CHARGES = """
INSERT INTO {name}
    (id, account_id, api_key_id, model_id, plan_id, price_version_id, source, kind, funding, status,
     request_id, owner_id, month, admitted_at, deadline_at, resolved_at, resolved_tx, worst_cost,
     hold_plan, hold_balance, first_output_at, units, cost, charge_plan, charge_balance)
SELECT id, account_id, api_key_id, %(model)s, 'max', %(price)s, 'api', 'embeddings', 'customer',
       'settled', 'bench-' || id, account_id, %(month)s, at, at, at, 0, cost, 0, 2 * cost, at,
       jsonb_build_object('tokens_in', 100), cost, 0, 2 * cost
FROM made
"""
_ENTRIES = """
INSERT INTO billing_ledgerentry
    (id, account_id, seq, kind, delta, balance_after, description, created_at)
SELECT id, account_id, seq + %(before)s + n + 1, 'charge', -2 * cost,
       balance - (%(before)s + n + 1) * 2 * cost, %(model)s, at
FROM made
"""
_ROLLUP = """
INSERT INTO billing_usagedaily
    (account_id, api_key_id, model_id, day, requests, tokens_in, tokens_out, billed)
SELECT account_id, api_key_id, %(model)s, (at AT TIME ZONE 'UTC')::date, count(*), 100 * count(*),
       0, sum(2 * cost)
FROM made GROUP BY 1, 2, 4
"""
_KEY_MONTHS = """
INSERT INTO billing_keymonth (api_key_id, month, billed, held, requests)
SELECT api_key_id, %(month)s, %(calls)s * 2 * cost, 0, %(calls)s FROM bench_payer
"""
_WALLETS = """
UPDATE billing_wallet w
SET balance = w.balance - %(calls)s * 2 * p.cost, seq = w.seq + %(calls)s
FROM bench_payer p WHERE p.account_id = w.account_id
"""


@dataclass(frozen=True, slots=True)
class Past:
    """What a year of calls costs to check, in seconds and bytes."""

    charges: int
    changes: list[float]
    everything: float
    memory: int


def run() -> list[Target]:
    """Measure. Raises BenchError where an invariant does not hold."""
    accounts = seed.open_accounts(ACCOUNTS)
    busy = accounts[:_BUSY]
    fresh = _pairs(busy)
    first, *others = past_months()
    _seed(accounts, [first])
    _measure(busy)
    _seed(accounts, others)
    large = _measure(busy)
    after = _pairs(busy)
    print(
        f"hold and settle: {fresh:,.0f} pairs/s before, {after:,.0f} with a year of months",
        flush=True,
    )
    longest = _close_and_drop(busy)
    slowest = max(large.changes)
    return [
        Target("reconcile at 10 million", f"{slowest:.2f} s", "< 2 s", slowest < 2),
        Target("hold and settle then", f"{after / fresh:.2f}", ">= 0.85", after / fresh >= 0.85),
        Target(
            "longest pair while a month is dropped",
            milliseconds(longest),
            "< 100 ms",
            longest < 0.1,
        ),
    ]


def _seed(accounts: Sequence[seed.Account], periods: Sequence[date]) -> None:
    """Calls of these months by these accounts, as the money functions would leave them."""
    _list_payers(accounts)
    parameters: dict[str, Any] = {"calls": CALLS, "days": DAYS, "model": _MODEL, "price": _price()}
    for number, month in enumerate(periods):
        values: dict[str, Any] = {**parameters, "month": month, "before": number * CALLS}
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT charge_partition(%s), least_id_of(%s), least_id_of(%s)",
                (month, month, months.following(month)),
            )
            name, least, following = cursor.fetchone()
            names = {
                "name": sql.Identifier(name),
                "first": sql.Literal(str(least)),
                "next": sql.Literal(str(following)),
            }
            for statement in (_TABLE, _MAKE, _CHARGES, _ENTRIES, _ROLLUP, _KEY_MONTHS, _ATTACH):
                in_it = values if "%(" in statement else None
                cursor.execute(sql.SQL(statement).format(**names), in_it)
    with connection.cursor() as cursor:
        cursor.execute(_WALLETS, {"calls": len(periods) * CALLS})
        # The server would analyse by itself, a little later.
        cursor.execute("VACUUM ANALYZE billing_charge, billing_ledgerentry, billing_usagedaily")


def past_months() -> list[date]:
    """The year before this month, the oldest first."""
    last = datetime.now(UTC).date().replace(day=1)
    found = []
    for _ in range(MONTHS):
        last = date(last.year - (last.month == 1), (last.month - 2) % 12 + 1, 1)
        found.append(last)
    return found[::-1]


def _measure(busy: Sequence[seed.Account]) -> Past:
    """Check the past: what changes while some make calls, three times, and then all."""
    _begin_anew()
    changes = []
    for _ in range(3):
        _pairs(busy, seconds=3)
        changes.append(_intact(check_changes))
    charges = Charge.objects.count()
    print(f"{charges:,} charges: changes {', '.join(f'{s:.2f} s' for s in changes)}", flush=True)
    with _Memory() as memory:
        everything = _intact(check_everything)
    print(f"everything {everything:.0f} s, {memory.most >> 20} MB of the server", flush=True)
    return Past(charges, changes, everything, memory.most)


def _begin_anew() -> None:
    """Let the first pass count all charges, as after a restore."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM billing_watermark")
    seconds = _intact(check_changes)
    print(f"the first pass: {seconds:.0f} s", flush=True)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE billing_chargetotal")


def _intact(check: Callable[[], list[Violation]]) -> float:
    """Seconds. Raises BenchError where an invariant is broken."""
    begun = time.perf_counter()
    if broken := check():
        raise BenchError(f"{len(broken)} rows break an invariant, among them {broken[0]}.")
    return time.perf_counter() - begun


def _close_and_drop(busy: Sequence[seed.Account]) -> float:
    """Seconds of the longest pair while the oldest month is dropped."""
    oldest = past_months()[0]
    begun = time.perf_counter()
    months.close_month(oldest)
    closing = time.perf_counter() - begun
    dropping: list[float] = []

    def drop() -> None:
        try:
            dropping.append(months.drop_month(oldest))
        finally:
            connection.close()  # that of this thread

    longest = pgbench.longest_pairs(busy, drop, model=_MODEL)
    print(
        f"a month closed in {closing:.1f} s, dropped in {milliseconds(*dropping)}; longest pair"
        f" {milliseconds(longest.during)}, in the seconds before {milliseconds(longest.before)}\n",
        flush=True,
    )
    _intact(check_changes)
    return longest.during


def _pairs(accounts: Sequence[seed.Account], *, seconds: int = _PAIRS_SECONDS) -> float:
    return pgbench.pairs_per_second(accounts, model=_MODEL, seconds=seconds)


def _price() -> int:
    return PriceVersion.objects.filter(model=_MODEL).latest("valid_from").pk


def _list_payers(accounts: Sequence[seed.Account]) -> None:
    """A table of accounts with what their ledgers begin with, and the cost of their calls."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_payer")
        cursor.execute(
            "CREATE TABLE bench_payer AS SELECT k.account_id, k.id AS api_key_id, w.seq, w.balance,"
            " 100000 + row_number() OVER () %% 997 AS cost"
            " FROM accounts_apikey k JOIN billing_wallet w USING (account_id) WHERE k.id = ANY(%s)",
            ([account.api_key_id for account in accounts],),
        )


class _Memory:
    """The most memory of its own that the session's server process has during the block."""

    def __enter__(self) -> Self:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            [pid] = cursor.fetchone()
        self.most = 0
        self._process, self._over = psutil.Process(pid), threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self.most = max(self.most, self._process.memory_full_info().uss)
