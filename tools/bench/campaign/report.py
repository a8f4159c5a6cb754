"""What is printed of a campaign."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.campaign.life import Outcome
from bench.report import table

_LONGEST = 2_000


def progress(number: int, runs: int, outcomes: Sequence[Outcome]) -> str:
    """A line after each life."""
    last = outcomes[-1]
    failed = sum(bool(outcome.violations) for outcome in outcomes)
    what = f"{len(last.violations)} VIOLATIONS" if last.violations else "all is well"
    faults = ", ".join(fault.kind for fault in last.schedule.faults)
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
            f"  Again: python -m bench.campaign --seed {seed} --seconds {seconds:g} --keep",
        ]
    )


def summary(outcomes: Sequence[Outcome]) -> str:
    """Tables of all lives, and at the end what is wrong: of a long output the end is seen first."""
    faults, acts, endings = (Counter[str]() for _ in range(3))
    for outcome in outcomes:
        faults += outcome.faults
        acts += outcome.acts
        endings += outcome.endings
    failed = [str(outcome.schedule.seed) for outcome in outcomes if outcome.violations]
    total = (
        f"{len(outcomes)} lives, {sum(outcome.calls for outcome in outcomes)} calls of providers,"
        f" {sum(outcome.lost for outcome in outcomes)} answers lost to the platform;"
        f" failed: {', '.join(failed) or 'none'}"
    )
    tables = (
        _counted("fault", faults),
        _counted("act", acts),
        _counted("ending of an act", endings),
    )
    wrong = [
        f"seed {outcome.schedule.seed}: {violation[:_LONGEST]}"
        for outcome in outcomes
        for violation in outcome.violations
    ]
    return "\n".join(["\n\n".join(["", *tables, total]), *wrong])


def _counted(what: str, counts: Counter[str]) -> str:
    return table((what, "times"), [(name, str(count)) for name, count in counts.most_common()])
