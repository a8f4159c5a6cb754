"""The table is what the rules make of it."""

from collections.abc import Iterator

from bench.quality.judges.checks import FILES, read

WANTED = """\
name,email,since,city
Anna Berg,anna@example.com,2024-04-03,Kiel
Bo Dahl,bo@example.com,2025-05-02,Husum
Dora Falk,dora@example.com,2024-06-30,Emden
Emil Gram,emil@example.com,2022-09-19,Emden
"""


def faults() -> Iterator[str]:
    found, wanted = read(FILES / "clean.csv").strip().splitlines(), WANTED.splitlines()
    if not found:
        yield "there is no clean.csv"
    for line in found:
        if line not in wanted:
            yield f"it has the line {line!r}"
    for line in wanted:
        if found and line not in found:
            yield f"it lacks the line {line!r}"
    if sorted(found) == sorted(wanted) and found != wanted:
        yield "its lines are in another order"
