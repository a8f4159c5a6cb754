"""A lock across processes: one has it, the others are told at once."""

import psycopg
import pytest

from common.database import connection_parameters
from common.locks import alone


@pytest.mark.django_db
def test_only_one_at_a_time_is_alone() -> None:
    with psycopg.connect(**connection_parameters()) as other:
        other.execute("SELECT pg_advisory_lock(hashtext('sweep'))")
        with alone("sweep") as first, alone("another") as second:
            assert (first, second) == (False, True)
        other.execute("SELECT pg_advisory_unlock(hashtext('sweep'))")
    with alone("sweep") as third:
        assert third
