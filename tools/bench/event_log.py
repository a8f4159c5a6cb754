"""The event log: appends to one stream in sequence, beside bare inserts; and a long stream replayed
page by page, beside the same pages read from the database."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from statistics import median
from uuid import UUID, uuid4

import msgspec
from django.db import connection, transaction

from bench.feed import WORDS
from bench.servers import BenchError, Server
from bench.sessions import Council, delta
from devserver.ports import LOOPBACK
from events.replay import MAX_BYTES, MAX_EVENTS
from events.services import append

EVENTS = 100_000
_ROUNDS = 5
_SECONDS = 1.0  # seconds of one round

_SEED = """
INSERT INTO events_event (stream_id, seq, type, actor, created_at, data)
SELECT %(stream)s, seq, 'card.delta', 'model:gpt-6-luna', now() + seq * interval '1 microsecond',
       json_build_object('card_id', %(stream)s::text, 'version', 1, 'offset', seq, 'text', %(text)s)
FROM generate_series(1, %(events)s) seq
"""


_INSERTS_INTO = """
CREATE TABLE IF NOT EXISTS bench_event (id uuid PRIMARY KEY, type text, actor text, data text)
"""
_INSERT = "INSERT INTO bench_event VALUES (%s, 'card.delta', 'model:gpt-6-luna', %s)"


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of the service and of the yardstick."""

    ours: float
    bare: float


class _Numbered(msgspec.Struct):
    """The only field of an event that is read."""

    seq: int


_Events = list[_Numbered]


def appends(stream_id: UUID) -> Rates:
    """Transactions a second that append one event to a stream, and that insert one row. All run in
    sequence on one connection, in alternate rounds; the results are medians."""
    with connection.cursor() as cursor:
        cursor.execute(_INSERTS_INTO)

    def append_one() -> None:
        with transaction.atomic():
            append(stream_id=stream_id, events=[delta(stream_id)])

    def insert_one() -> None:
        with connection.cursor() as cursor:
            cursor.execute(_INSERT, (uuid4(), WORDS))

    turns = [(_rate(append_one), _rate(insert_one)) for _ in range(_ROUNDS)]
    return Rates(median(ours for ours, _ in turns), median(bare for _, bare in turns))


def _rate(work: Callable[[], None]) -> float:
    started, done = time.perf_counter(), 0
    while time.perf_counter() < started + _SECONDS:
        work()
        done += 1
    return done / (time.perf_counter() - started)


def seed_events(stream_id: UUID) -> None:
    """Fill an empty stream."""
    with connection.cursor() as cursor:
        cursor.execute(_SEED, {"stream": stream_id, "text": WORDS, "events": EVENTS})
        cursor.execute("UPDATE events_stream SET last_seq = %s WHERE id = %s", (EVENTS, stream_id))
        # The server would analyse by itself, a little later.
        cursor.execute("VACUUM ANALYZE events_event")


def replay(service: Server, council: Council) -> Rates:
    """Events a second, page by page: over HTTP, and from the database. Raises BenchError where a
    page is not the expected one."""
    pages = list(_replay(service, council))
    seen = [event.seq for _, page in pages for event in msgspec.json.decode(page, type=_Events)]
    if seen != list(range(1, EVENTS + 1)):
        raise BenchError(f"Of {EVENTS} events in order, the replay has {len(seen)}.")
    started = time.perf_counter()
    for after in range(0, EVENTS, MAX_EVENTS):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT seq, frame FROM events_after(%s, %s, %s, %s)",
                (council.id, after, MAX_EVENTS, MAX_BYTES),
            )
            cursor.fetchall()
    read = time.perf_counter() - started
    return Rates(EVENTS / sum(seconds for seconds, _ in pages), EVENTS / read)


def _replay(service: Server, council: Council) -> Iterator[tuple[float, bytes]]:
    """Seconds and body of each page, up to the first empty one."""
    http = HTTPConnection(LOOPBACK, service.port, timeout=30)
    headers = {"Authorization": f"Bearer {council.token}"}
    path, after, body = f"/api/council/sessions/{council.id}/events?limit={MAX_EVENTS}", "0", b""
    while body != b"[]":
        started = time.perf_counter()
        http.request("GET", f"{path}&after_seq={after}", headers=headers)
        response = http.getresponse()
        body = response.read()
        yield time.perf_counter() - started, body
        if response.status != 200:
            raise BenchError(f"The replay answered {response.status}: {body.decode()}")
        after = response.headers["X-Next-Seq"]
