"""What a charge, an event and a message take on disk, indexes included, and what a charge writes to
the WAL: the figures of docs/operations/capacity.md."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from bench import report, seed
from bench.pgbench import pairs_per_second
from billing.models import Charge

ACCOUNTS = 1_000
SECONDS = 60
_EVENTS_EACH, _STREAMS = 100, 1_000
_MODELS = {"allowance": "gpt-6-luna", "balance": "text-embedding-3-small"}
_CHARGE_TABLES = (
    *("billing_charge", "billing_ledgerentry", "billing_usagedaily"),
    *("billing_keymonth", "billing_allowance", "billing_wallet"),
)
_STREAM_EVENTS = """
WITH made AS (
    INSERT INTO events_stream (id, kind, account_id)
    SELECT uuidv7(), 'bench', %(account)s FROM generate_series(1, %(streams)s) RETURNING id
)
INSERT INTO events_event (stream_id, seq, type, actor, created_at, data)
SELECT id, seq, 'card.delta', 'model:gpt-6-luna', now(),
       json_build_object('card_id', id, 'version', 1, 'offset', seq * 40,
                         'text', repeat('words ', 7))
FROM made, generate_series(1, %(events)s) seq
"""


@dataclass
class Growth:
    """The bytes that a block added to tables, by their names, and to the WAL."""

    tables: dict[str, int]
    wal: int = 0


def run() -> list[report.Target]:
    """Measure and print. There is no target: the figures are for planning."""
    accounts = seed.open_accounts(ACCOUNTS)
    for payer, model in _MODELS.items():
        before = Charge.objects.count()
        with growth(_CHARGE_TABLES) as grown:
            pairs_per_second(accounts, model=model, seconds=SECONDS)
        _print(f"charges, {payer} pays", grown, Charge.objects.count() - before)
    with growth(("events_event", "events_stream")) as grown, connection.cursor() as cursor:
        cursor.execute(
            _STREAM_EVENTS,
            {"account": accounts[0].account_id, "streams": _STREAMS, "events": _EVENTS_EACH},
        )
    _print("events of 42 characters", grown, _STREAMS * _EVENTS_EACH)
    return []


@contextmanager
def growth(tables: Sequence[str]) -> Iterator[Growth]:
    """What the block adds. Dead rows are removed first; what stays of their room counts."""
    grown = Growth({})
    sizes, position = _sizes(tables), _wal()
    yield grown
    grown.wal = _wal() - position
    later = _sizes(tables)
    grown.tables = {name: later[name] - size for name, size in sizes.items()}


def _sizes(tables: Sequence[str]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        sizes: dict[str, int] = {}
        for name in tables:
            cursor.execute(
                "SELECT pg_table_size(%s::regclass), pg_indexes_size(%s::regclass)", (name, name)
            )
            [(rows, indexes)] = cursor.fetchall()
            sizes |= {name: rows, f"{name}, indexes": indexes}
    return sizes


def _wal() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn() - '0/0'")
        [(position,)] = cursor.fetchall()
    return int(position)


def _print(what: str, grown: Growth, count: int) -> None:
    rows = [(name, f"{size / count:,.0f}") for name, size in grown.tables.items() if size >= count]
    rows += [("all", f"{sum(grown.tables.values()) / count:,.0f}")]
    rows += [("WAL", f"{grown.wal / count:,.0f}")]
    print(f"{count:,} {what}: bytes each\n{report.table(('', 'bytes'), rows)}\n", flush=True)
