"""The studios: their requests, and clips in flight at a provider."""

from statistics import median

from bench import report, studio_flights, studio_requests
from bench.report import Target, milliseconds, p99
from bench.studio_flights import IN_FLIGHT, LARGE, RATE, Copy, Ends, Polls
from bench.studio_requests import INSERTS, ORDERING, PAGE, ROWS

_MB = 1_000_000


def run() -> list[Target]:
    """Measure and print."""
    return [*_requests(), *_flights()]


def _requests() -> list[Target]:
    times = studio_requests.measure()
    middle = {name: median(seconds) for name, seconds in times.items()}
    rows = [
        (name, milliseconds(middle[name]), milliseconds(p99(seconds)))
        for name, seconds in times.items()
    ]
    print(report.table(("", "median", "p99"), rows), end="\n\n", flush=True)
    ordering, page = middle[ORDERING], middle[PAGE]
    print(
        f"An order takes {ordering / middle[INSERTS]:.1f} times as long as its rows, the page "
        f"{page / middle[ROWS]:.1f} times\n",
        flush=True,
    )
    return [
        Target("queueing a job", milliseconds(ordering), "<= 15 ms", ordering <= 0.015),
        Target(PAGE, milliseconds(page), "< 20 ms", page < 0.02),
    ]


def _flights() -> list[Target]:
    polls, ends, copy = studio_flights.measure()
    _print(polls, ends, copy)
    told = [seconds for each in ends.seconds.values() for seconds in each]
    late, memory, more = p99(told), polls.memory / _MB, copy.memory / _MB
    return [
        Target("polls", f"{polls.rate:,.0f}/s", f">= {RATE}/s", polls.rate >= RATE),
        Target("of a core for them", f"{polls.cores:.2f}", "<= 0.50", polls.cores <= 0.5),
        Target("the worker's memory", f"{memory:.0f} MB", "< 300 MB", memory < 300),
        Target("poll to end told, p99", milliseconds(late), "<= 1 s", late <= 1),
        Target("ends not told", str(ends.missing), "0", not ends.missing),
        Target(f"memory to copy {LARGE // _MB} MB", f"{more:.0f} MB", "< 30 MB", more < 30),
    ]


def _print(polls: Polls, ends: Ends, copy: Copy) -> None:
    each = polls.cores / polls.rate
    print(
        f"{IN_FLIGHT:,} jobs in flight: {polls.rate:,.0f} polls/s take {polls.cores:.2f} cores, "
        f"{milliseconds(each)} each; a bare GET of the same URL by the same client "
        f"{milliseconds(polls.bare_cpu)}\n"
    )
    rows = [
        (status, str(len(seconds)), milliseconds(median(seconds)), milliseconds(p99(seconds)))
        for status, seconds in ends.seconds.items()
    ]
    print("From the poll that saw the end until it was told, with the other jobs in flight")
    print(report.table(("", "jobs", "median", "p99"), rows), end="\n\n")
    print(
        f"A clip of {LARGE // _MB} MB was told {copy.seconds:.2f} s after the poll; a bare copy by "
        f"the same client takes {copy.bare_seconds:.2f} s\n",
        flush=True,
    )
