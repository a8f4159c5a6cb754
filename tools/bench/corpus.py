"""Texts to be answered with: what packages ship in five scripts, and code. None of them was looked
at when the estimate of tokens was made."""

import gettext
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from random import Random

import django

SCRIPTS = {
    "Latin": "en_GB",
    "Cyrillic": "ru",
    "Arabic": "ar",
    "Devanagari": "hi",
    "Han": "zh_Hans",
}
CODE = "code"
_SHORTEST, _LONGEST = 200, 4_000  # characters
_SENTENCE = 40  # characters of the English message that is a sentence, and not the name of a thing


class Corpus:
    """The texts of each kind."""

    def __init__(self) -> None:
        self._texts = {kind: " ".join(_sentences(name)) for kind, name in SCRIPTS.items()}
        self._texts[CODE] = "\n".join(_modules())

    def excerpt(self, kind: str, random: Random) -> str:
        """Some text of a kind, of a random length."""
        text = self._texts[kind]
        length = min(random.randint(_SHORTEST, _LONGEST), len(text) - 1)
        start = random.randrange(len(text) - length)
        return text[start : start + length].strip()


def _sentences(language: str) -> Iterator[str]:
    """The translations of Django in a language, but for those with places to fill."""
    for path in sorted(Path(django.__path__[0]).rglob(f"locale/{language}/LC_MESSAGES/*.mo")):
        with path.open("rb") as file:
            # There is no public way to list a catalog.
            messages = vars(gettext.GNUTranslations(file))["_catalog"]
        named = ((key if isinstance(key, str) else key[0], text) for key, text in messages.items())
        sentences = (text for key, text in named if len(key) >= _SENTENCE and text)
        yield from (text for text in sentences if "%" not in text and "{" not in text)


def _modules() -> Iterator[str]:
    """Modules of Python's library, and the scripts of Django's admin."""
    library = Path(sysconfig.get_path("stdlib"))
    yield from (path.read_text() for path in sorted(library.glob("[a-f]*.py")))
    scripts = Path(django.__path__[0], "contrib/admin/static/admin/js")
    yield from (path.read_text() for path in sorted(scripts.glob("*.js")))
