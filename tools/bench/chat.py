"""Conversations with streamed replies: measurements, targets, and output."""

from collections import Counter
from statistics import median

import uvloop

from bench import noise, replies, report, seed, servers
from bench.load import Result
from bench.report import Target, milliseconds, p99
from bench.servers import Server
from billing.services.reconciliation import find_violations
from simulator import process
from simulator.process import RunningSimulator

_ACCOUNTS = 50
_ROUNDS, _SECONDS = 3, 4


def run() -> list[Target]:
    """Measure and print."""
    accounts = seed.open_accounts(_ACCOUNTS)
    lines = replies.open_lines(accounts, replies.STREAMS // _ACCOUNTS)
    with process.running("--bench") as simulator:
        targets = [
            *_alone_and_pressed(simulator, lines),
            *_in_one_instant(simulator, lines),
            *_held_open(simulator, lines),
        ]
    unsettled, broken = replies.count_unsettled(), len(find_violations())
    seen = f"{unsettled} not, {broken} violations" if unsettled or broken else "all"
    return [*targets, Target("replies settled", seen, "all", seen == "all")]


def _alone_and_pressed(simulator: RunningSimulator, lines: list[replies.Line]) -> list[Target]:
    """Measure yardstick and service in turn."""
    with (
        servers.reply_yardstick(simulator) as yardstick,
        servers.service(simulator) as service,
        noise.reported("the replies"),
    ):
        subjects = {"bare Django view": yardstick, "service": service}
        for server in subjects.values():
            uvloop.run(replies.press(server, lines, replies.WARM_UP_SECONDS))
        first = {name: uvloop.run(replies.alone(it, lines)) for name, it in subjects.items()}
        rounds: dict[str, list[Result]] = {name: [] for name in subjects}
        for _ in range(_ROUNDS):
            for name, server in subjects.items():
                rounds[name].append(uvloop.run(replies.press(server, lines, _SECONDS)))
    rates = {name: median(result.rate for result in results) for name, results in rounds.items()}
    bare, ours = subjects
    rows = [
        (
            name,
            milliseconds(median(first[name])),
            milliseconds(p99(first[name])),
            f"{rates[name]:,.0f}",
            f"{rates[name] / rates[bare]:.2f}",
        )
        for name in subjects
    ]
    print(f"Streamed replies: one alone, then {replies.CONNECTIONS} at a time")
    header = ("", "first word", "p99", "replies/s", "ratio")
    print(report.table(header, rows), end="\n\n", flush=True)
    alone = median(first[ours])
    failures = sum((result.failures for result in rounds[ours]), start=Result().failures)
    return [
        Target("first word of a reply alone", milliseconds(alone), "<= 15 ms", alone <= 0.015),
        Target("replies refused or broken", _listed(failures) or "none", "none", not failures),
    ]


def _in_one_instant(simulator: RunningSimulator, lines: list[replies.Line]) -> list[Target]:
    with servers.service(simulator) as service, noise.reported("the burst"):
        uvloop.run(replies.press(service, lines[:2], replies.WARM_UP_SECONDS))
        result = uvloop.run(replies.burst(service, lines))
    ended = len(result.latencies)
    print(f"{len(lines)} replies asked for in one instant: {ended} ended in {result.seconds:.1f} s")
    seen = _listed(result.failures)
    return [Target("asked for in one instant, refused", seen or "none", "none", not seen)]


def _held_open(simulator: RunningSimulator, lines: list[replies.Line]) -> list[Target]:
    with servers.reply_yardstick(simulator) as yardstick, noise.reported("the open bare answers"):
        bare = _hold(yardstick, lines)
    with servers.service(simulator) as service, noise.reported("the open replies"):
        ours = _hold(service, lines)
    print(f"{len(lines)} replies at once, each of two words a second")
    rows = [
        (
            name,
            f"{it.each / 1024:.0f} KB",
            f"{it.growth:.0f} bytes",
            milliseconds(median(it.latencies)),
            milliseconds(p99(it.latencies)),
        )
        for name, it in {"bare Django view": bare, "service": ours}.items()
    ]
    header = ("", "memory", "and each word", "a word takes", "p99")
    print(report.table(header, rows), end="\n\n", flush=True)
    each, growth = ours.each / 1024, ours.growth
    seen = _listed(ours.faults())
    return [
        Target(
            "replies open at once", f"{ours.at_once}", f"{len(lines)}", ours.at_once == len(lines)
        ),
        Target("lost of them", seen or "nothing", "nothing", not seen),
        Target("memory of an open reply", f"{each:.0f} KB", "<= 100 KB", each <= 100),
        Target("and of each of its words", f"{growth:.0f} bytes", "<= 150 bytes", growth <= 150),
    ]


def _hold(server: Server, lines: list[replies.Line]) -> replies.Open:
    uvloop.run(replies.press(server, lines[:2], replies.WARM_UP_SECONDS))
    return uvloop.run(replies.hold_open(server, lines))


def _listed(failures: Counter[str]) -> str:
    return ", ".join(f"{count} x {what}" for what, count in failures.items())
