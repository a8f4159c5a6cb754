"""A lock across processes: one has it, the others are told at once."""

import psycopg
import pytest

from common.database import connection_parameters
from common.locks import hold, try_lock


@pytest.mark.django_db
def test_one_at_a_time_has_it() -> None:
    with psycopg.connect(**connection_parameters()) as other:
        other.execute("SELECT pg_advisory_lock(hashtext('sweep'))")
        with try_lock("sweep") as first, try_lock("another") as second:
            assert (first, second) == (False, True)
        other.execute("SELECT pg_advisory_unlock(hashtext('sweep'))")
    with try_lock("sweep") as third:
        assert third


@pytest.mark.django_db
def test_who_holds_keeps_others_from_the_same_and_from_nothing_else() -> None:
    with psycopg.connect(**connection_parameters()) as other, other.transaction():
        hold("upload", "alice")
        assert not is_free(other, "upload", "alice")
        assert is_free(other, "upload", "bob")
        assert is_free(other, "mail", "alice")


def is_free(other: psycopg.Connection[tuple[bool]], name: str, key: str) -> bool:
    question = "SELECT pg_try_advisory_xact_lock(hashtext(%s), hashtext(%s))"
    answer = other.execute(question, (name, key)).fetchone()
    assert answer is not None
    return answer[0]
