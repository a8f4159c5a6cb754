"""What was said before symbols were words is found by its symbols, once the indexes are rebuilt."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from billing.tests.test_migrations import elsewhere, manage
from common.ids import uuid7

__all__ = ["elsewhere"]  # a fixture

pytestmark = pytest.mark.usefixtures("django_db_setup")

INDEXES = {"conversation_words", "message_words"}


def write(database: psycopg.Connection[Any], account: UUID, words: str) -> UUID:
    """A conversation with that title. Returns its id."""
    conversation = uuid7()
    database.execute(
        "INSERT INTO accounts_user (id, email, password, name, status, email_verified,"
        " token_version, is_staff, is_superuser, created_at, avatar_url) VALUES"
        " (%s, %s, '', '', 'active', true, 1, false, false, now(), '') ON CONFLICT DO NOTHING",
        (account, f"{account}@example.com"),
    )
    database.execute(
        "INSERT INTO conversations_conversation"
        " (id, account_id, title, title_source, model, system, activity)"
        " VALUES (%s, %s, %s, 'user', '', '', %s)",
        (conversation, account, words, conversation),
    )
    return conversation


def found(database: psycopg.Connection[Any], account: UUID, word: str) -> list[UUID]:
    """By the index, as `conversations/sql/10_search.sql` finds them."""
    with database.transaction():
        database.execute("SET LOCAL enable_seqscan = off")
        rows = database.execute(
            "SELECT id FROM conversations_conversation"
            " WHERE conversations_words(account_id, title) @@ %s::tsquery",
            (f"'{account}' & 'x{str(account)[-2:]}{word}'",),
        )
        return [conversation for (conversation,) in rows]


def indexes(database: psycopg.Connection[Any]) -> dict[str, bool]:
    """Those of words, and whether each is valid."""
    rows = database.execute(
        "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE c.relname ~ '_words'"
    )
    return dict(rows.fetchall())


def test_earlier_texts_are_found_by_their_symbols(elsewhere: str) -> None:
    manage(elsewhere, "migrate conversations 0002_search")
    account = uuid4()
    with psycopg.connect(elsewhere, autocommit=True) as database:
        party = write(database, account, "Party 🎉")
        assert found(database, account, "party") == [party]
        assert found(database, account, "🎉") == []
        # What an attempt that was cut off leaves behind.
        database.execute("CREATE INDEX message_words_ccnew ON conversations_message (account_id)")

    manage(elsewhere, "migrate conversations")

    with psycopg.connect(elsewhere, autocommit=True) as database:
        assert found(database, account, "🎉") == [party]
        assert found(database, account, "party") == [party]
        assert found(database, account, "🎊") == []
        assert indexes(database) == dict.fromkeys(INDEXES, True)
