"""The new prices are there, and so is what somebody else has changed meanwhile."""

from collections.abc import Iterator

from bench.quality.judges.checks import REPOSITORY, lacking, read


def faults() -> Iterator[str]:
    text = read(REPOSITORY / "docs/prices.md")
    yield from lacking(text, "| Tea | 2.60 |", "| Coffee | 2.20 |")
    yield from lacking(text, "| Cake | 3.40 |", "| Fish soup | 7.90 |", "| Espresso | 1.80 |")
    if "<<<<<<<" in text:
        yield "it has marks of a conflict"
