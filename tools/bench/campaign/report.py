"""What is printed of a campaign."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.campaign.life import Outcome
from bench.campaign.recovery import Breakage
from bench.report import table

_LONGEST = 2_000


def progress(number: int, runs: int, outcomes: Sequence[Outcome]) -> str:
    """A line after each life."""
    last = outcomes[-1]
    failed = sum(bool(outcome.violations) for outcome in outcomes)
    what = f"{len(last.violations)} VIOLATIONS" if last.violations else "all is well"
    faults = ", ".join(map(_of_fault, last.breakages))
    month = ", a month's end" if last.schedule.month_ends_at is not None else ""
    return (
        f"life {number} of {runs}, seed {last.schedule.seed}: {what};"
        f" {sum(last.acts.values())} acts, {last.calls} calls, {last.lost} lost,"
        f" {last.seconds:.0f} s; {faults}{month}"
        + (f" ({failed} of {number} have failed)" if failed else "")
    )


def of_life(outcome: Outcome, kept: Path) -> str:
    """What is wrong with a life, where it is kept, and how it is repeated."""
    seed, seconds = outcome.schedule.seed, outcome.schedule.seconds
    lines = [f"  {violation[:_LONGEST]}" for violation in outcome.violations]
    return "\n".join(
        [
            *lines,
            f"  Logs, notes and journal: {kept}",
            f'  Again: make campaign RUNS=1 SEED={seed} ARGS="--seconds {seconds:g} --keep"',
        ]
    )


def summary(outcomes: Sequence[Outcome]) -> str:
    """Tables of all lives, and at the end what is wrong: of a long output the end is seen first."""
    acts, endings = Counter[str](), Counter[str]()
    for outcome in outcomes:
        acts += outcome.acts
        endings += outcome.endings
    failed = [str(outcome.schedule.seed) for outcome in outcomes if outcome.violations]
    total = (
        f"{len(outcomes)} lives, {sum(outcome.calls for outcome in outcomes)} calls of providers,"
        f" {sum(outcome.lost for outcome in outcomes)} answers lost to the platform;"
        f" failed: {', '.join(failed) or 'none'}"
    )
    tables = (
        _recoveries([each for outcome in outcomes for each in outcome.breakages]),
        _counted("act", acts),
        _counted("ending of an act", endings),
    )
    wrong = [
        f"seed {outcome.schedule.seed}: {violation[:_LONGEST]}"
        for outcome in outcomes
        for violation in outcome.violations
    ]
    return "\n".join(["\n\n".join(["", *tables, total]), *wrong])


def _of_fault(breakage: Breakage) -> str:
    return f"{breakage.kind} ({breakage.in_flight} in flight, well after {_s(breakage.recovery)})"


def _recoveries(breakages: Sequence[Breakage]) -> str:
    """Of each kind of fault: the calls in flight when it came, and the seconds until all was well
    again."""
    header = ("fault", "times", "calls in flight", "most", "well after", "median", "most", "never")
    rows = []
    for kind, count in Counter(each.kind for each in breakages).most_common():
        same = [each for each in breakages if each.kind == kind]
        flights = [each.in_flight for each in same]
        took = [each.recovery for each in same if each.recovery is not None]
        times = (min(took), median(took), max(took)) if took else (None,) * 3
        told = (f"{median(flights):.0f}", str(max(flights)), *map(_s, times))
        rows.append((kind, str(count), *told, str(count - len(took))))
    return table(header, rows)


def _s(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.1f} s"


def _counted(what: str, counts: Counter[str]) -> str:
    return table((what, "times"), [(name, str(count)) for name, count in counts.most_common()])
