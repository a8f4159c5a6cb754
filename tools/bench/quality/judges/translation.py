"""The German texts have all keys, and the words of the glossary."""

import json
from collections.abc import Iterator

from bench.quality.judges.checks import REPOSITORY, differing, read

WANTED = {
    "greeting": "Moin, {name}",
    "basket": "Einkaufskorb",
    "checkout": "Zur Kasse",
    "total": "Zu zahlen",
    "shipping": "Versandkosten",
    "closed": "Heute ist Ruhetag",
    "thanks": "Danke für die Bestellung",
    "stock": "Nur noch {count} da",
}


def faults() -> Iterator[str]:
    found = json.loads(read(REPOSITORY / "locales/de.json") or "{}")
    for key in sorted(found.keys() ^ WANTED.keys()):
        yield f"{key} is missing" if key in WANTED else f"nobody has {key}"
    for key in sorted(found.keys() & WANTED.keys()):
        if found[key] != WANTED[key]:
            yield f"{key} is {found[key]!r}"
    yield from differing({"locales/en.json": '"basket": "Shopping basket"'})
