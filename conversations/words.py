"""The words of texts, as they are indexed and found.

Punctuation is no part of a word. Each word has a bucket of its account's in front, `x` and the end
of the account's id, so that what begins with some letters is looked for in a 256th of all words,
and the account's id is among them, so that nothing else of others is looked at.
"""

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func


class Words(Func):
    """The words of a text of an account's: its first 100,000 characters, because PostgreSQL indexes
    at most 1 MB."""

    function = "conversations_words"
    arity = 2
    output_field: Any = SearchVectorField()
