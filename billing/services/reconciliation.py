"""Checks the invariants of money: of what changed since the last pass, or of everything.

A pass reads what was resolved or moved by transactions that the last passed one did not see
(`Watermark.snapshot`), however late they committed. It adds that to the totals and compares them
with the counters; where nothing is broken, the new totals and the new snapshot are committed
together, and else neither. docs/decisions/0067 says why.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from billing.invariants import Invariant, Reads, Violation, get_invariants

# Rows that are reported of one invariant.
LIMIT = 20
# Accounts that are checked at a time.
ACCOUNTS = 100
MEMORY = "64MB"
_OPEN = "SELECT account_id FROM billing_wallet WHERE account_id > %s ORDER BY account_id LIMIT %s"
# A process of the release before notes no transaction.
_NOTE_MISSING = (
    "UPDATE billing_charge SET resolved_tx = current_tx()"
    " WHERE status <> 'held' AND resolved_tx IS NULL"
)


@dataclass(frozen=True, slots=True)
class Progress:
    """Accounts that are checked, of all."""

    done: int
    total: int


def check_changes() -> list[Violation]:
    """Check what changed since the last pass; if nothing is broken, the next one begins here.

    The first one, and one on another cluster than the last, counts all charges and checks all
    accounts.
    """
    with connection.cursor() as cursor:
        cursor.execute(_NOTE_MISSING)
        with _one_snapshot(cursor, lock="billing_watermark"):
            snapshot = _watermark(cursor)
            if snapshot is None:
                cursor.execute("SELECT count_charges_anew()")
                snapshot = _pass(cursor)
                cursor.execute("SELECT check_accounts(NULL, %s)", (snapshot,))
                broken = _broken(cursor, Reads.CHANGES, Reads.FEW, Reads.ACCOUNTS)
            else:
                cursor.execute("SELECT check_changes(%s)", (snapshot,))
                broken = _broken(cursor, Reads.CHANGES, Reads.FEW)
                _pass(cursor)
            cursor.execute("SELECT end_check()")
            if broken:
                transaction.set_rollback(True)
    return broken


def check_everything(
    *, accounts: int = ACCOUNTS, tell: Callable[[Progress], None] | None = None
) -> list[Violation]:
    """Check the whole history, so many accounts at a time, and then whole tables. `tell` is called
    after each of these steps. Returns at most LIMIT rows for each invariant."""
    found: dict[str, list[Violation]] = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM billing_wallet")
        [total] = cursor.fetchone()
        done = 0
        for chunk in _chunks(cursor, accounts):
            _collect(found, _check_accounts(cursor, chunk))
            done += len(chunk)
            if tell:
                tell(Progress(done, max(done, total)))
        with _one_snapshot(cursor):
            _collect(found, _broken(cursor, Reads.FEW, Reads.TABLES))
    return [violation for rows in found.values() for violation in rows]


def find_violations() -> list[Violation]:
    """The rows that break an invariant now, in one snapshot of all tables: for databases that fit
    into memory. Nothing is changed."""
    with connection.cursor() as cursor, _one_snapshot(cursor):
        broken = _check_accounts(cursor, None)
        return broken + _broken(cursor, Reads.FEW, Reads.TABLES)


def _check_accounts(cursor: CursorWrapper, accounts: list[UUID] | None) -> list[Violation]:
    with _one_snapshot(cursor):
        cursor.execute("SELECT check_accounts(%s, %s)", (accounts, _watermark(cursor)))
        broken = _broken(cursor, Reads.CHANGES, Reads.ACCOUNTS)
        cursor.execute("SELECT end_check()")
    return broken


def _broken(cursor: CursorWrapper, *reads: Reads) -> list[Violation]:
    # Nearly always none is: one statement asks for all.
    invariants = {each.name: each for each in get_invariants(*reads)}
    cursor.execute(
        " UNION ALL ".join(
            f"SELECT '{name}' WHERE EXISTS ({each.sql})" for name, each in invariants.items()
        )
    )
    return [
        violation for (name,) in cursor.fetchall() for violation in _rows(cursor, invariants[name])
    ]


def _rows(cursor: CursorWrapper, invariant: Invariant) -> Iterator[Violation]:
    cursor.execute(f"{invariant.sql} LIMIT %s", (LIMIT,))
    columns = [column.name for column in cursor.description or ()]
    for row in cursor.fetchall():
        yield Violation(invariant, dict(zip(columns, row, strict=True)))


def _collect(found: dict[str, list[Violation]], violations: list[Violation]) -> None:
    for violation in violations:
        rows = found.setdefault(violation.invariant.name, [])
        if len(rows) < LIMIT:
            rows.append(violation)


def _chunks(cursor: CursorWrapper, size: int) -> Iterator[list[UUID]]:
    last = UUID(int=0)
    while True:
        cursor.execute(_OPEN, (last, size))
        chunk = [account for (account,) in cursor.fetchall()]
        if not chunk:
            return
        yield chunk
        last = chunk[-1]


def _watermark(cursor: CursorWrapper) -> str | None:
    """The snapshot of the last pass; None where there was none on this cluster."""
    cursor.execute("SELECT last_passed()::text")
    [snapshot] = cursor.fetchone()
    return None if snapshot is None else str(snapshot)


def _pass(cursor: CursorWrapper) -> str:
    """Let the next pass begin at the transaction's snapshot. Returns it."""
    cursor.execute(
        "INSERT INTO billing_watermark (id, cluster, snapshot, passed_at)"
        " SELECT 1, system_identifier, pg_current_snapshot()::text, clock_timestamp()"
        " FROM pg_control_system()"
        " ON CONFLICT (id) DO UPDATE SET cluster = excluded.cluster,"
        " snapshot = excluded.snapshot, passed_at = excluded.passed_at RETURNING snapshot"
    )
    [snapshot] = cursor.fetchone()
    return str(snapshot)


@contextmanager
def _one_snapshot(cursor: CursorWrapper, *, lock: str = "") -> Iterator[None]:
    """Whatever the block reads is of one moment. Tests are in a transaction of theirs already.
    `lock` names a table that nobody else writes meanwhile."""
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SET LOCAL work_mem = %s", (MEMORY,))
        # LOCK takes no snapshot yet.
        if lock:
            cursor.execute(f"LOCK TABLE {lock} IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("LOCK TABLE billing_chargemonth IN SHARE MODE")
        yield
