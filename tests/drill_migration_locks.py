"""No migration blocks calls while it runs, or breaks the release before it."""

from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, migrations
from django.db.migrations.loader import MigrationLoader

from devserver.paths import ROOT
from tests.tools import needs_tools, run

pytestmark = [pytest.mark.django_db, needs_tools]

# Migrations that break a rule, and why that harms nobody.
ALLOWED = {
    "accounts.0002_append_only_audit_log": "changes tables that the same release makes",
    "billing.0003_totals": "changes tables that the same release makes",
    "billing.0004_months_of_charges": "changes tables that the same release makes",
    "billing.0006_groups_without_a_budget": "only money_hold reads budgets, and comes with it",
    "conversations.0001_initial": "changes tables that the same release makes",
    "conversations.0002_search": "changes tables that the same release makes",
    "council.0001_initial": "changes tables that the same release makes",
    "projects.0001_initial": "changes tables that the same release makes",
}


def ours() -> dict[str, migrations.Migration]:
    """By app and name."""
    folders = {app.label for app in apps.get_app_configs() if Path(app.path).is_relative_to(ROOT)}
    found = MigrationLoader(connection).disk_migrations
    return {
        f"{label}.{name}": migration
        for (label, name), migration in found.items()
        if label in folders and ".venv" not in (apps.get_app_config(label).path)
    }


def problems(migration: migrations.Migration) -> str:
    """What squawk says of the SQL of a migration; nothing where that harms nobody."""
    loader = MigrationLoader(connection, replace_migrations=False)
    sql = loader.collect_sql([(migration, False)])  # type: ignore[attr-defined]
    # Django's own, which says the same as the option below.
    text = "\n".join(line for line in sql if line not in ("BEGIN;", "COMMIT;"))
    assumed = ["--assume-in-transaction"] if migration.atomic else []
    answer = run("squawk", *assumed, "--reporter", "gcc", stdin=text)
    return "" if answer.returncode == 0 else answer.stdout + answer.stderr


def test_no_migration_holds_locks_for_long_or_breaks_the_code_before_it() -> None:
    found = {
        name: text
        for name, migration in sorted(ours().items())
        if name not in ALLOWED and (text := problems(migration))
    }
    assert found == {}, "\n".join(f"{name}: {text}" for name, text in found.items())


def test_what_is_allowed_is_needed() -> None:
    found = ours()
    assert [name for name in ALLOWED if name not in found or not problems(found[name])] == []


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("CREATE INDEX made_up ON billing_charge (id);", "require-concurrent-index-creation"),
        ("ALTER TABLE billing_charge ADD COLUMN made_up int NOT NULL;", "adding-required-field"),
        ("ALTER TABLE billing_charge DROP COLUMN status;", "ban-drop-column"),
        ("ALTER TABLE billing_charge RENAME COLUMN status TO made_up;", "renaming-column"),
        ("ALTER TABLE billing_charge RENAME TO made_up;", "renaming-table"),
        ("ALTER TABLE billing_charge ALTER COLUMN kind TYPE text;", "changing-column-type"),
        ("DROP TABLE billing_charge;", "ban-drop-table"),
        (
            "ALTER TABLE billing_charge ADD CONSTRAINT made_up CHECK (worst_cost > 0);",
            "constraint-missing-not-valid",
        ),
    ],
)
def test_what_would_harm_calls_is_found(sql: str, rule: str) -> None:
    assert rule in run("squawk", "--reporter", "gcc", stdin=sql).stdout


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE INDEX CONCURRENTLY made_up ON billing_charge (id);",
        "ALTER TABLE billing_charge ADD COLUMN made_up int;",
        "ALTER TABLE billing_charge ADD COLUMN made_up int DEFAULT 0 NOT NULL;",
        "CREATE TABLE made_up (id bigint PRIMARY KEY);",
    ],
)
def test_what_harms_nobody_is_not(sql: str) -> None:
    assert run("squawk", stdin=sql).returncode == 0
