"""Searches conversations by the words in their messages."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.models.expressions import RawSQL
from msgspec import Struct
from psycopg.errors import QueryCanceled

from accounts.models import User
from common.errors import ValidationFailed
from conversations.errors import SearchTooSlow
from conversations.snippets import snippet
from conversations.types import MAX_WORDS, SEARCH_SECONDS

_LEXEMES = """
SELECT tsvector_to_array(conversations_words(%s, %s)),
       tsvector_to_array(conversations_words(%s, %s))
"""
_IN_TIME = "SELECT set_config('statement_timeout', %s, true)"
_FOUND = "SELECT conversation_id FROM conversations_found(%s, %s::tsquery)"
_MATCHES = """
SELECT conversation_id, message_id, content FROM conversations_matches(%s, %s::tsquery, %s)
"""


@contextmanager
def in_time(seconds: float = SEARCH_SECONDS) -> Iterator[None]:
    """Limit each query of the block to a number of seconds, in one transaction. Raises
    SearchTooSlow."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(_IN_TIME, (f"{round(1000 * seconds)}ms",))
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise SearchTooSlow from error
        raise


class Match(NamedTuple):
    """The newest message of a conversation with all the words; `snippet` is a part of it."""

    message_id: UUID
    snippet: str


class Search(Struct, frozen=True):
    """The words of a search in the conversations of one `owner`. `query` is a tsquery, empty
    without words."""

    owner: User
    words: list[str]
    query: str

    @property
    def found(self) -> RawSQL | list[UUID]:
        """The conversations with all the words in their title, or in one message."""
        if not self.words:
            return []
        return RawSQL(_FOUND, (self.owner.pk, self.query))  # noqa: S611 - with parameters

    def matches(self, conversation_ids: Collection[UUID]) -> dict[UUID, Match]:
        """The matches in each of these conversations; those with matches in their title alone are
        left out."""
        if not conversation_ids:
            return {}
        with connection.cursor() as cursor:
            cursor.execute(_MATCHES, (self.owner.pk, self.query, list(conversation_ids)))
            return {
                conversation_id: Match(message_id, snippet(text, self.words))
                for conversation_id, message_id, text in cursor.fetchall()
            }


def search_for(owner: User, text: str) -> Search:
    """A search for all the words of a text in the conversations of that owner; the last one may be
    the beginning of a word. Raises ValidationFailed for too many words."""
    *whole, last = text.split() or [""]
    with connection.cursor() as cursor:
        cursor.execute(_LEXEMES, (owner.pk, " ".join(whole), owner.pk, last))
        complete, partial = cursor.fetchone()
    account = str(owner.pk)
    bucket = f"x{account[-2:]}"
    nothing = {account, bucket}
    terms = [_quoted(lexeme) for lexeme in complete if lexeme not in nothing]
    terms += [f"{_quoted(lexeme)}:*" for lexeme in partial if lexeme not in nothing]
    words = {lexeme.removeprefix(bucket) for lexeme in {*complete, *partial} - nothing}
    if len(words) > MAX_WORDS:
        raise ValidationFailed.of("q", f"At most {MAX_WORDS} words are looked for.")
    return Search(owner, sorted(words), " & ".join([_quoted(account), *terms]))


def _quoted(lexeme: str) -> str:
    """The word as a tsquery's lexeme."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
