"""All chapters are in the document, whole, and in their order."""

import re
from collections.abc import Iterator
from pathlib import Path

from bench.quality.judges.checks import lacking, read

CHAPTERS = ["Opening", "Till", "Kitchen", "Closing"]
FACTS = ("6:40", "150", "4471", "65 degrees", "3 hours", "twice", "18:15")


def faults() -> Iterator[str]:
    text = read(Path("final.md"))
    found = [name for name in re.findall(r"^## +(.+?) *$", text, re.MULTILINE) if name in CHAPTERS]
    if found != CHAPTERS:
        yield f"its chapters are {', '.join(found) or 'none'}"
    yield from lacking(text, *FACTS)
