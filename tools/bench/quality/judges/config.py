"""The configuration is valid by the schema, and what was asked for."""

import json
from collections.abc import Iterator

from bench.quality.judges.checks import REPOSITORY, read

WANTED = {
    "stage": "live",
    "retry_limit": 7,
    "currency": "EUR",
    "log_level": "brief",
    "hosts": ["shop.example.com", "till.example.com"],
}


def faults() -> Iterator[str]:
    found = json.loads(read(REPOSITORY / "config/prod.json") or "{}")
    for name in sorted(found.keys() - WANTED.keys()):
        yield f"the schema has no {name}"
    for name, value in WANTED.items():
        if name not in found:
            yield f"{name} is missing"
        elif found[name] != value or type(found[name]) is not type(value):
            yield f"{name} is {found[name]!r}"
