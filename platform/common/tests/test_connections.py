"""All processes together open no more connections than PostgreSQL has, or a start says so."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from common.connections import connections_add_up, demand, problems, server

pytestmark = pytest.mark.django_db


def check() -> list[str]:
    return [str(problem.msg) for problem in connections_add_up(None, databases=["default"])]


def test_every_process_is_counted_with_its_pools_and_threads(settings: Settings) -> None:
    settings.WEB_PROCESSES, settings.WORKER_PROCESSES = 2, 3
    settings.DATABASE_POOL_SIZE, settings.HOT_POOL_SIZE = 5, 6
    settings.WORKER_CONCURRENCY, settings.RESERVED_CONNECTIONS = 4, 7
    needed = demand()
    assert (needed.web, needed.worker, needed.beat, needed.reserve) == (42, 171, 1, 7)
    assert needed.total == 221


def test_what_the_server_keeps_for_superusers_is_not_there_for_us() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW max_connections")
        most = int(cursor.fetchone()[0])
        cursor.execute("SHOW superuser_reserved_connections")
        kept = int(cursor.fetchone()[0])
    assert kept > 0
    assert server().connections == most - kept


def test_processes_that_fit_are_told_with_their_sum(settings: Settings) -> None:
    settings.PRODUCTION = True
    output = StringIO()
    call_command("check_connections", stdout=output)
    assert f"at most {demand()} to PostgreSQL" in output.getvalue()
    assert check() == []


def test_too_many_are_refused_before_postgresql_refuses_them(settings: Settings) -> None:
    settings.PRODUCTION = True
    settings.WEB_PROCESSES = 1_000
    with pytest.raises(CommandError, match=r"The processes may open \d+ connections \(web 26000,"):
        call_command("check_connections")
    assert "WEB_PROCESSES" in check()[0]


def test_migrations_are_refused_with_the_same_sentence_in_production_alone(
    settings: Settings,
) -> None:
    settings.WEB_PROCESSES = 1_000
    assert check() == []
    settings.PRODUCTION = True
    assert connections_add_up(None, databases=[]) == []
    assert len(check()) == 1


def test_behind_a_pooler_it_is_the_pooler_that_rules(settings: Settings) -> None:
    settings.WEB_PROCESSES = 1_000
    settings.DATABASE_POOLER = "transaction"
    assert not any("max_connections" in problem for problem in problems())
