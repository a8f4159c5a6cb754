"""What was said before symbols were words is found by its symbols, once the indexes are rebuilt."""

import os
import subprocess
import sys
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from billing.tests.test_migrations import elsewhere, manage
from common.ids import uuid7
from tests.chaos.calls import wait_for

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
        # What attempts that were cut off leave behind.
        for left in ("message_words_ccnew", "conversation_words_ccold"):
            database.execute(f"CREATE INDEX {left} ON conversations_message (account_id)".encode())

    manage(elsewhere, "migrate conversations")

    with psycopg.connect(elsewhere, autocommit=True) as database:
        assert found(database, account, "🎉") == [party]
        assert found(database, account, "party") == [party]
        assert found(database, account, "🎊") == []
        assert indexes(database) == dict.fromkeys(INDEXES, True)


def rebuilding(database: psycopg.Connection[Any]) -> int:
    """How many connections rebuild an index."""
    row = database.execute(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND state = 'active' AND query ~ '^REINDEX'"
    ).fetchone()
    assert row
    return int(row[0])


def test_a_migration_that_is_killed_stops_and_can_be_run_again(elsewhere: str) -> None:
    manage(elsewhere, "migrate conversations 0002_search")
    with psycopg.connect(elsewhere, autocommit=True) as database:
        with psycopg.connect(elsewhere) as writer:
            # The rebuild waits for whoever writes.
            writer.execute("LOCK TABLE conversations_conversation IN ROW EXCLUSIVE MODE")
            migrating = subprocess.Popen(
                [sys.executable, "manage.py", "migrate", "conversations"],
                env={**os.environ, "DATABASE_URL": elsewhere},
            )
            wait_for(lambda: rebuilding(database) == 1)
            migrating.kill()
            migrating.wait()
            wait_for(lambda: rebuilding(database) == 0)

        manage(elsewhere, "migrate conversations")
        assert indexes(database) == dict.fromkeys(INDEXES, True)
