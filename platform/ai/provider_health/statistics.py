"""Counts of calls and of their times by the minute, in fields that can be added up.

A time is counted in a class, each a quarter longer than the one before, so that a median is known
to within an eighth of itself.
"""

import math
from collections.abc import Mapping
from itertools import accumulate
from typing import Literal

from msgspec import Struct

MINUTE = 60  # seconds
# Seconds: the shortest and the longest time that are told apart, and the step from class to class.
_SHORTEST, _LONGEST, _STEP = 0.01, 1000.0, 1.25
_MAX_CLASS = math.ceil(math.log(_LONGEST / _SHORTEST, _STEP))

Timing = Literal["first", "total"]


class Statistics(Struct, frozen=True):
    """The calls of a period: how many by outcome, and the median and the 95th percentile of their
    times in seconds, None where there are none. `failed` counts those against the provider."""

    counts: dict[str, int]
    failed: int
    first: tuple[float, float] | None
    total: tuple[float, float] | None

    @property
    def calls(self) -> int:
        return sum(self.counts.values())

    @property
    def failed_share(self) -> float:
        """From 0 to 1, of the calls that say anything of the provider."""
        judged = self.counts.get("served", 0) + self.failed
        return self.failed / judged if judged else 0.0


def fields_of(
    code: str, *, is_failure: bool, first: float | None = None, total: float | None = None
) -> list[str]:
    """The fields that a call adds 1 to. `first` and `total` are seconds to the first output and to
    the end, of a call that was served."""
    fields = [f"code:{code}"]
    if is_failure:
        fields.append("failed")
    fields += [_field("first", first)] if first is not None else []
    fields += [_field("total", total)] if total is not None else []
    return fields


def read(fields: Mapping[str, int]) -> Statistics:
    """The statistics in fields that were added up."""
    codes = {
        name.removeprefix("code:"): count
        for name, count in fields.items()
        if name.startswith("code:")
    }
    return Statistics(
        counts=dict(sorted(codes.items(), key=lambda each: (-each[1], each[0]))),
        failed=fields.get("failed", 0),
        first=_percentiles("first", fields),
        total=_percentiles("total", fields),
    )


def _field(timing: Timing, seconds: float) -> str:
    held = min(max(seconds, _SHORTEST), _LONGEST)
    return f"{timing}:{min(round(math.log(held / _SHORTEST, _STEP)), _MAX_CLASS)}"


def _percentiles(timing: Timing, fields: Mapping[str, int]) -> tuple[float, float] | None:
    prefix = f"{timing}:"
    classes = sorted(
        (int(name.removeprefix(prefix)), count)
        for name, count in fields.items()
        if name.startswith(prefix)
    )
    if not classes:
        return None
    return _percentile(classes, 0.5), _percentile(classes, 0.95)


def _percentile(classes: list[tuple[int, int]], share: float) -> float:
    """The middle of the class in which that share of all calls ends."""
    wanted = share * sum(count for _, count in classes)
    seen = accumulate(count for _, count in classes)
    index = next(index for (index, _), ended in zip(classes, seen, strict=True) if ended >= wanted)
    return float(f"{_SHORTEST * _STEP**index:.2g}")
