"""`manage.py setup`: the one way to set up a database, as often and from as many hosts as one
likes."""

import re
import threading
from contextlib import closing
from io import StringIO

import psycopg
import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from ai.catalog.models import AIModel
from billing.models import Plan, PlanAllowance, Subscription
from config.management.commands.setup import LOCK
from tests.operators import new_operator
from tests.personas import new_user
from tests.service import database_url

ADDRESS, PASSWORD = "olivia@example.com", "correct horse battery staple"


def setup(*arguments: str) -> list[str]:
    """What it prints, without the seconds."""
    printed = StringIO()
    call_command("setup", *arguments, stdout=printed)
    return re.sub(r" \(\d+\.\d s\)$", "", printed.getvalue(), flags=re.MULTILINE).splitlines()


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERATOR_PASSWORD", PASSWORD)


@pytest.fixture
def no_operator(db: None) -> None:
    """As in a new service."""
    User.objects.filter(is_superuser=True).update(is_superuser=False)


# --- The database ---------------------------------------------------------------------------------
# What it does to an empty one, from two hosts at once: tests/operations/drill_first_setup.py.


@pytest.mark.django_db
def test_a_line_for_each_step_and_nothing_to_do_the_second_time() -> None:
    new_operator()
    listed = AIModel.objects.exclude(provider__startswith="local").count()
    migrations, catalog, plans, operator = setup()
    assert re.fullmatch(r"Migrations: 0 applied, \d+ were there\.", migrations)
    assert catalog == f"Catalog: {listed} models listed, 0 added, 0 updated, 0 prices added."
    assert plans == "Plans: 0 added, 0 allowances added."
    assert operator == "Operator: there is one; others are made in the admin."


@pytest.mark.django_db
def test_what_operators_have_changed_stays() -> None:
    Plan.objects.filter(key="max").update(price=1)
    PlanAllowance.objects.filter(plan="max", model="gpt-6-luna").update(granted=2)
    AIModel.objects.filter(pk="gpt-6-luna").update(enabled=False)
    setup()
    assert Plan.objects.get(key="max").price == 1
    assert PlanAllowance.objects.get(plan="max", model="gpt-6-luna").granted == 2
    assert not AIModel.objects.get(pk="gpt-6-luna").enabled


@pytest.mark.django_db
def test_it_waits_for_another_host() -> None:
    with closing(psycopg.connect(database_url())) as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (LOCK,))
        done = threading.Timer(0.3, other.rollback)
        done.start()
        assert setup()[0] == "Waiting for another `setup` of this database."
        done.join()


@pytest.mark.django_db
def test_production_refuses_more_connections_than_there_are(settings: Settings) -> None:
    settings.PRODUCTION, settings.WEB_PROCESSES = True, 1_000
    with pytest.raises(CommandError, match="PostgreSQL has"):
        setup()


# --- The first operator ---------------------------------------------------------------------------


@pytest.mark.usefixtures("no_operator", "password")
def test_the_first_operator_is_made_once() -> None:
    assert f"Operator: {ADDRESS} was made" in setup("--operator", f" {ADDRESS.title()} ")[-1]
    olivia = User.objects.get(email=ADDRESS)
    assert (olivia.is_staff, olivia.is_superuser) == (True, True)
    assert olivia.check_password(PASSWORD)
    assert Subscription.objects.get(account=olivia).plan_id == "free"
    [entry] = LogEntry.objects.filter(user=olivia)
    assert entry.change_message == "Made the first operator by command."

    assert setup("--operator", ADDRESS)[-1].startswith("Operator: there is one")
    assert setup("--operator", "else@example.com")[-1].startswith("Operator: there is one")
    assert not User.objects.filter(email="else@example.com").exists()


@pytest.mark.usefixtures("no_operator", "password")
def test_the_address_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERATOR_EMAIL", ADDRESS)
    assert f"Operator: {ADDRESS} was made" in setup()[-1]


@pytest.mark.usefixtures("no_operator")
def test_without_an_address_it_says_how_to_make_one() -> None:
    assert setup()[-1] == "Operator: none. `manage.py setup --operator ADDRESS` makes one."


@pytest.mark.usefixtures("no_operator", "password")
def test_nobody_who_has_signed_up_is_made_the_operator() -> None:
    alice = new_user("alice")
    with pytest.raises(CommandError, match=f"{alice.email} has an account already"):
        setup("--operator", alice.email)
    alice.refresh_from_db()
    assert not alice.is_superuser


@pytest.mark.usefixtures("no_operator")
@pytest.mark.parametrize(
    ("address", "secret", "sentence"),
    [
        (ADDRESS, "", "set OPERATOR_PASSWORD, or run this at a terminal"),
        (ADDRESS, "password", "This password is too common"),
        (ADDRESS, ADDRESS, "too similar to the"),
        ("olivia", PASSWORD, "Write a plain e-mail address"),
    ],
)
def test_no_operator_is_made_of_what_is_no_good(
    monkeypatch: pytest.MonkeyPatch, address: str, secret: str, sentence: str
) -> None:
    monkeypatch.setenv("OPERATOR_PASSWORD", secret)
    with pytest.raises(CommandError, match=sentence):
        setup("--operator", address)
    assert not User.objects.filter(is_superuser=True).exists()


# --- Requests before it ---------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_sign_up_without_plans_is_a_503_that_names_the_command() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("UPDATE billing_plan SET key = key || '-gone' WHERE key = 'free'")
    body = {"email": "alice@example.com", "password": PASSWORD}
    answer = APIClient().post("/api/auth/signup", body, format="json")
    assert answer.status_code == 503
    assert "`manage.py setup`" in answer.json()["detail"]
    assert answer.json()["code"] == "service_unavailable"
