"""The words of texts in the search index.

Punctuation is no part of a word, and marks are no part of a letter: `Zürich` is found as `zurich`.
In scripts that are written without spaces each character is a word, and so is each symbol and emoji
in any text; a flag is one, and tones of skin are none.

Each word has a prefix of its account's, `x` and the end of the account's id, so that a search for
the beginning of a word reads a 256th of all words; and the account's id is one of the words, so
that only the account's own texts are read.
"""

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func


class Words(Func):
    """The words of a text of one account: of its first 20,000 characters, because wallets are
    locked while a message is indexed."""

    function = "conversations_words"
    arity = 2
    output_field: Any = SearchVectorField()
