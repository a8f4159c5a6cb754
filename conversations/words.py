"""The words of texts, as they are indexed and found.

Punctuation is no part of a word, and marks are no part of a letter: `Zürich` is found as `zurich`.
In scripts that are written without spaces each character is a word.

Each word has a bucket of its account's in front, `x` and the end of the account's id, so that what
begins with some letters is looked for in a 256th of all words, and the account's id is among them,
so that nothing else of others is looked at.
"""

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func


class Words(Func):
    """The words of a text of an account's: of its first 20,000 characters, because wallets are
    locked while a message is indexed."""

    function = "conversations_words"
    arity = 2
    output_field: Any = SearchVectorField()
