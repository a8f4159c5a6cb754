"""The time from commit to delivery: a thousand sockets in one process follow a hundred sessions,
beside a bare Channels consumer that is fed from memory, and beside a server of prepared bytes.

Each event is a transaction of its own, in one of a few threads of this process. Its time is that of
the commit.
"""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from uuid import UUID

from django.db import connection, transaction

from bench import report
from bench.feed import Feed
from bench.listeners import Receipts, Socket, listening
from bench.servers import Server
from bench.sessions import Council, delta, sockets
from events.services import append

FEED = Feed(streams=100, sockets=1_000, rate=500, seconds=10)
_EACH = FEED.sockets // FEED.streams
_WARM_UP_NS = 2 * 10**9
_TIMEOUT = 10  # seconds for the last events
_WRITERS = 4

# The time of each event, by its number; one mapping for each stream.
SentAt = list[dict[int, int]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`latencies` are the seconds of events after the warm-up; `rate` is the events sent in a
    second. `missing` events did not reach one of their sockets; `disordered` ones came twice, or
    out of order."""

    latencies: list[float]
    rate: float
    missing: int
    disordered: int
    failures: Counter[str]

    @property
    def median(self) -> float:
        return median(self.latencies)

    @property
    def p99(self) -> float:
        return report.p99(self.latencies)

    @property
    def complete(self) -> bool:
        """Did each socket get each event of its stream once, and in order?"""
        return not (self.missing or self.disordered or self.failures)


def from_memory(server: Server) -> Outcome:
    """Measure a server that sends `FEED`, whose events are numbered with their times."""
    opened = sockets([f"/{stream}" for stream in range(FEED.streams)], _EACH)
    with listening(server.port, opened) as listeners:
        receipts = listeners.collect(FEED.events * _EACH, within=FEED.seconds + _TIMEOUT)
    sent: SentAt = [{} for _ in range(FEED.streams)]
    for socket, events in zip(opened, receipts.events, strict=True):
        sent[socket.stream].update((number, number) for number, _ in events)
    return _compare(opened, receipts, sent)


def from_log(service: Server, councils: Sequence[Council]) -> Outcome:
    """Measure the service, with events committed at the rate of `FEED`."""
    opened = sockets([council.path for council in councils], _EACH)
    with listening(service.port, opened) as listeners:
        sent = _write([council.id for council in councils])
        receipts = listeners.collect(FEED.events * _EACH, within=_TIMEOUT)
    return _compare(opened, receipts, sent)


def _write(streams: Sequence[UUID]) -> SentAt:
    committed: SentAt = [{} for _ in streams]
    started = time.monotonic()

    def write(first: int) -> None:
        for number in range(first, FEED.events, _WRITERS):
            time.sleep(max(0, started + number / FEED.rate - time.monotonic()))
            stream = number % len(streams)
            seq, at = _append(streams[stream])
            committed[stream][seq] = at
        connection.close()

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(write, range(_WRITERS)))
    return committed


def _append(stream_id: UUID) -> tuple[int, int]:
    """Commit one event. Returns its number, and the time of the commit."""
    at: list[int] = []
    with transaction.atomic():
        # Before the notifier, which the append calls after the commit.
        transaction.on_commit(lambda: at.append(time.monotonic_ns()))
        seq = append(stream_id=stream_id, events=[delta(stream_id)])
    return seq, at[0]


def _compare(opened: Sequence[Socket], receipts: Receipts, sent: SentAt) -> Outcome:
    times = [at for stream in sent for at in stream.values()]
    first, last = min(times), max(times)
    latencies, missing, disordered = [], 0, 0
    for socket, events in zip(opened, receipts.events, strict=True):
        expected = sent[socket.stream]
        missing += len(expected.keys() - dict(events).keys())
        disordered += sum(before >= after for (before, _), (after, _) in pairwise(events))
        latencies += [
            (came - expected[number]) / 10**9
            for number, came in events
            if expected[number] >= first + _WARM_UP_NS
        ]
    rate = len(times) / ((last - first) / 10**9)
    return Outcome(latencies, rate, missing, disordered, receipts.failures)
