"""File names that any file system and any browser accepts."""

import re
import unicodedata

from common.titles import JOINERS

# Characters with a meaning in some file system.
_MEANINGFUL = re.compile(r'[<>:"/\\|?*]')
# A leading dot marks configuration, such as `.env`.
_LEADING_DOT = re.compile(r"\s*\.(?=[^\s.])")
_NOT_AT_THE_ENDS = ". " + JOINERS


def harmless(name: str, *, limit: int, otherwise: str) -> str:
    """The name in NFC, without invisible and special characters, cut to `limit` characters, with at
    most one leading dot. `otherwise` where nothing is left."""
    seen = "".join(
        character if _is_seen(character) else " "
        for character in _MEANINGFUL.sub(" ", unicodedata.normalize("NFC", name))
    )
    dot = "." if _LEADING_DOT.match(seen) else ""
    words = " ".join(seen.split()).strip(_NOT_AT_THE_ENDS)
    return (dot + words)[:limit].rstrip(_NOT_AT_THE_ENDS) or otherwise


def _is_seen(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character)[0] not in "CZ"
