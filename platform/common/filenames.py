"""Names of files that any file system and any browser takes."""

import re
import unicodedata

# What some file system gives a meaning to.
_MEANINGFUL = re.compile(r'[<>:"/\\|?*]')
# What configuration is called, such as `.env`.
_LEADING_DOT = re.compile(r"\s*\.(?=[^\s.])")


def harmless(name: str, *, limit: int, otherwise: str) -> str:
    """The name in NFC, without what is not seen or has a meaning, cut to `limit` characters; of
    dots at its beginning one may stay. `otherwise` where nothing is left."""
    seen = "".join(
        " " if unicodedata.category(character)[0] in "CZ" else character
        for character in _MEANINGFUL.sub(" ", unicodedata.normalize("NFC", name))
    )
    dot = "." if _LEADING_DOT.match(seen) else ""
    return (dot + " ".join(seen.split()).strip(". "))[:limit].rstrip(". ") or otherwise
