"""The printed report: the machine, the figures, and whether each target is met."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import quantiles

_PACKAGES = ("uvicorn", "uvloop", "httptools", "aiohttp", "psycopg", "msgspec")


@dataclass(frozen=True, slots=True)
class Target:
    """One target: what it concerns, the measured value, the promised value, and whether it is
    met."""

    name: str
    measured: str
    promised: str
    met: bool


def machine() -> str:
    """Processor, cores, memory and versions: figures depend on them."""
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}\n"
        f"Python {platform.python_version()}, {versions}"
    )


def p99(seconds: Sequence[float]) -> float:
    """The 99th percentile."""
    return quantiles(seconds, n=100)[98]


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, left: int = 1) -> str:
    """A table with columns of minimal width; the first `left` columns are aligned to the left."""
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (header, *rows)
    )


def verdicts(targets: list[Target]) -> str:
    """A line for each target."""
    rows = [
        ("met" if target.met else "MISSED", target.name, target.measured, target.promised)
        for target in targets
    ]
    return table(("", "target", "measured", "promised"), rows, left=2)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
