"""Sockets, the event log and councils: measurements, targets, and output."""

import time
from collections import Counter
from collections.abc import Sequence

from bench import councils, delivery, event_log, noise, report, seed, servers
from bench.feed import Feed
from bench.listeners import Socket, listening
from bench.report import Target, milliseconds
from bench.servers import Server
from bench.sessions import open_councils, sockets
from simulator import process

COUNCILS_AT_ONCE = 10
# One user may have 50 sockets in a process.
_IDLE_OWNERS = 125
_IDLE_SOCKETS, _WARM_UP_SOCKETS = 5_000, 200
_SETTLE_SECONDS = 2
_SILENCE = Feed(streams=100, sockets=0, rate=1, seconds=0)


def run() -> list[Target]:
    """Measure and print."""
    return [*_sockets(), *_log(), *_councils()]


def _sockets() -> list[Target]:
    with process.running("--bench") as simulator, noise.reported("the live sockets"):
        with servers.socket_yardstick(_SILENCE) as server:
            idle_bare = _idle(server, [f"/{number}" for number in range(_IDLE_OWNERS)])
        with servers.service(simulator) as server:
            idle_ours = _idle(server, [each.path for each in open_councils(_IDLE_OWNERS)])
        with servers.socket_floor(delivery.FEED) as server:
            floor = delivery.from_memory(server)
        with servers.socket_yardstick(delivery.FEED) as server:
            bare = delivery.from_memory(server)
        with servers.service(simulator) as server:
            ours = delivery.from_log(server, open_councils(delivery.FEED.streams))
    _print_sockets(
        [
            ("ready bytes", floor, ""),
            ("bare Channels consumer", bare, f"{idle_bare:.0f} KB"),
            ("service", ours, f"{idle_ours:.0f} KB"),
        ]
    )
    promised, lost = delivery.FEED.rate, _lost(ours)
    middle, p99, rate = ours.median, ours.p99, ours.rate
    return [
        Target("commit to delivery, median", milliseconds(middle), "< 20 ms", middle < 0.02),
        Target("commit to delivery, p99", milliseconds(p99), "< 100 ms", p99 < 0.1),
        Target("commits meanwhile", f"{rate:,.0f}/s", f"{promised}/s", rate >= 0.98 * promised),
        Target("deliveries lost or out of turn", lost, "none", lost == "none"),
        Target("memory of an idle socket", f"{idle_ours:.0f} KB", "<= 40 KB", idle_ours <= 40),
    ]


def _idle(server: Server, paths: list[str]) -> float:
    """KB for each idle socket."""
    opened = sockets(paths, _IDLE_SOCKETS // len(paths))
    return _bytes_each(server, opened) / 1024


def _print_sockets(rows: list[tuple[str, delivery.Outcome, str]]) -> None:
    feed = delivery.FEED
    print(
        f"{feed.sockets:,} sockets over {feed.streams} streams, from commit or sending to receipt; "
        f"and the memory of each of {_IDLE_SOCKETS:,} idle sockets"
    )
    cells = [
        (name, f"{it.rate:,.0f}", milliseconds(it.median), milliseconds(it.p99), _lost(it), idle)
        for name, it, idle in rows
    ]
    header = ("", "events/s", "median", "p99", "lost", "idle")
    print(report.table(header, cells), end="\n\n", flush=True)


def _lost(outcome: delivery.Outcome) -> str:
    counts = Counter({"missing": outcome.missing, "out of turn": outcome.disordered})
    seen = [f"{count:,} {what}" for what, count in (counts + outcome.failures).items()]
    return ", ".join(seen) or "none"


def _log() -> list[Target]:
    with process.running("--bench") as simulator, servers.service(simulator) as server:
        short, long = open_councils(2)
        event_log.seed_events(long.id)
        with noise.reported("the event log"):
            appends = event_log.appends(short.id)
            replay = event_log.replay(server, long)
    print(
        f"Appends to one stream: {appends.ours:,.0f}/s, bare inserts {appends.bare:,.0f}/s; replay "
        f"of {event_log.EVENTS:,} events: {replay.ours:,.0f}/s, read from the database "
        f"{replay.bare:,.0f}/s\n",
        flush=True,
    )
    appended, replayed = f"{appends.ours:,.0f}/s", f"{replay.ours:,.0f}/s"
    return [
        Target("appends to one stream", appended, ">= 300/s", appends.ours >= 300),
        Target("replay of a long stream", replayed, ">= 10,000/s", replay.ours >= 10_000),
    ]


def _councils() -> list[Target]:
    accounts = seed.open_accounts(1 + COUNCILS_AT_ONCE)
    with (
        process.running() as simulator,
        servers.service(simulator) as server,
        servers.worker(simulator),
        noise.reported("the councils"),
    ):
        councils.warm_up(server, simulator, accounts[0])
        [alone] = councils.measure(server, simulator, accounts[:1])
        together = councils.measure(server, simulator, accounts[1:])
    size, ratio = councils.SIZE, alone.seconds / alone.slowest_call
    events = sum(outcome.events for outcome in together)
    print(
        f"A council of {size.cards} cards of {size.tokens} tokens: {alone.seconds:.2f} s, its "
        f"slowest call {alone.slowest_call:.2f} s; {COUNCILS_AT_ONCE} at once: {events:,} "
        f"events in {max(outcome.seconds for outcome in together):.2f} s, the slowest call "
        f"{max(outcome.slowest_call for outcome in together):.2f} s\n",
        flush=True,
    )
    faults = Counter(fault for outcome in (alone, *together) for fault in outcome.faults)
    seen = ", ".join(f"{count} x {what}" for what, count in faults.items()) or "nothing"
    return [
        Target("a council, of its slowest call", f"{ratio:.2f}x", "<= 1.15x", ratio <= 1.15),
        Target(f"lost of {COUNCILS_AT_ONCE} councils at once", seen, "nothing", not faults),
    ]


def _bytes_each(server: Server, opened: Sequence[Socket]) -> float:
    """Bytes of proportional set size for each socket. Needs a fresh process: an earlier load would
    leave free memory."""
    with listening(server.port, opened[:_WARM_UP_SOCKETS]):
        pass
    time.sleep(_SETTLE_SECONDS)
    before = server.memory()
    with listening(server.port, opened):
        time.sleep(_SETTLE_SECONDS)
        return (server.memory() - before) / len(opened)
