"""What the message asked for is there, and nothing is lost."""

from collections.abc import Iterator
from pathlib import Path

from bench.quality.judges.checks import lacking, read


def faults() -> Iterator[str]:
    text = read(Path("final.md"))
    yield from lacking(text, "Harms", "1961", "kale with smoked sausage", "11.50")
    yield from lacking(text, "bread", "Fridays", "5 in the morning")
