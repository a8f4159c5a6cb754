"""Events for several users at once."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connection, transaction

from conftest import Persona
from events.services import append_to_users
from events.tests.streams import user_events
from events.types import NewEvent, ToUser
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url

EVENT = NewEvent("team.updated", {"team": "Sea"})
TOLD = ("team.updated", {"team": "Sea"})


def test_each_gets_the_events_for_them(alice: Persona, bob: Persona, charlie: Persona) -> None:
    append_to_users([ToUser(bob.user.pk, [EVENT, EVENT]), ToUser(alice.user.pk, [EVENT])])
    told = [user_events(person.user) for person in (alice, bob, charlie)]
    assert told == [[TOLD], [TOLD, TOLD], []]


def test_nobody_may_be_told(db: None) -> None:
    append_to_users([])


def test_their_streams_are_taken_in_the_order_of_their_ids(committed: None) -> None:
    """So that two transactions do not wait for each other."""
    first, second = sorted((new_user("alice"), new_user("bob")), key=lambda user: user.pk)

    def write() -> None:
        with transaction.atomic():
            append_to_users([ToUser(second.pk, [EVENT]), ToUser(first.pk, [EVENT])])
        connection.close()

    lock = "SELECT FROM events_stream WHERE id = %s FOR UPDATE NOWAIT"
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute(lock, (second.pk,))
        writing = pool.submit(write)
        wait_until_blocked(holder)
        with (
            psycopg.connect(database_url()) as other,
            pytest.raises(psycopg.errors.LockNotAvailable),
        ):
            other.execute(lock, (first.pk,))
        holder.rollback()
        writing.result()
    assert user_events(first) == user_events(second) == [TOLD]
