"""The pages of the admin find their rows by indexes, however long the tables have become."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.admin.audit import AuditLogAdmin
from accounts.models import User
from admin_ui.pages import NewestOnly
from billing.models import Charge
from billing.tests.bank import BALANCE_ONLY, new_account, price_of
from tests.operators import Operator, new_operator
from tests.personas import new_key

ROWS = 100_000
# The tables that calls and acts let grow for ever.
LONG = ("billing_charge", "billing_ledgerentry", "jobs_job", "django_admin_log")
# Of every account as many; one in a thousand has failed.
_CHARGES = """
INSERT INTO billing_charge
    (id, account_id, model_id, plan_id, price_version_id, source, kind, funding, status, request_id,
     owner_id, month, admitted_at, deadline_at, resolved_at, worst_cost, hold_plan, hold_balance,
     first_output_at, units, cost, charge_plan, charge_balance)
SELECT uuidv7(), (%(accounts)s::uuid[])[1 + n %% cardinality(%(accounts)s)], %(model)s, 'max',
       %(price)s, 'api', 'chat', 'customer',
       CASE WHEN n %% 1000 = 0 THEN 'released' ELSE 'settled' END, 'req_' || n, uuidv7(),
       '2026-01-01', now(), now(), now(), 9, 0, 18, now(),
       '{"tokens_in": 1, "tokens_out": 1}', 9, 0, 18
FROM generate_series(1, %(rows)s) n"""
_LEDGER = """
INSERT INTO billing_ledgerentry
    (id, account_id, seq, kind, delta, balance_after, description, created_at)
SELECT id, account_id, 1 + row_number() OVER (PARTITION BY account_id ORDER BY id), 'charge', -18,
       0, '', now()
FROM billing_charge"""
_JOBS = """
INSERT INTO jobs_job (id, kind, queue, account_id, status, ended_at)
SELECT id, 'tests', 'default', account_id, 'completed', now() FROM billing_charge"""
_LOG = """
INSERT INTO django_admin_log
    (action_time, user_id, object_id, object_repr, action_flag, change_message)
SELECT now() - n * interval '1 minute', %(operator)s, gen_random_uuid()::text, 'a record ' || n, 2,
       '[]'
FROM generate_series(1, %(rows)s) n"""

Page = tuple[str, dict[str, str]]


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


@pytest.fixture
def accounts(db: None) -> list[User]:
    return [new_account() for _ in range(20)]


@pytest.fixture
def charge(operator: Operator, accounts: list[User]) -> Charge:
    """One of very many."""
    parameters: dict[str, Any] = {
        "accounts": [account.pk for account in accounts],
        "model": BALANCE_ONLY,
        "price": price_of(BALANCE_ONLY),
        "operator": operator.user.pk,
        "rows": ROWS,
    }
    with connection.cursor() as cursor:
        for statement in (_CHARGES, _LEDGER, _JOBS, _LOG):
            cursor.execute(statement, parameters)
        cursor.execute(f"ANALYZE {', '.join(LONG)}")
    return Charge.objects.get(request_id="req_7")


def pages(charge: Charge, account: User, hint: str) -> Iterator[Page]:
    """The pages over long tables, each with what operators search and filter by."""
    yield f"billing/charge/{charge.pk}/change/", {}
    for term in (str(charge.pk), charge.request_id, hint, str(account.pk)):
        yield "find/", {"q": term}
    searches: tuple[dict[str, str], ...] = (
        {},
        {"q": account.email},
        {"q": "alice"},
        {"q": str(charge.pk)},
        {"days": "7"},
    )
    filters = {
        "billing/charge/": ({"status__exact": "expired"}, {"kind": "3d"}, {"failure": "no_text"}),
        "billing/ledgerentry/": ({"kind__exact": "adjust"},),
        "jobs/job/": ({"status__exact": "failed"}, {"age": "60"}, {"queue__exact": "media"}),
    }
    for path, own in filters.items():
        for query in (*searches, *own, {**own[0], "q": account.email}):
            yield path, query
    yield f"jobs/job/{charge.pk}/change/", {}
    for query in ({}, {"q": str(account.pk)}, {"q": "reason"}):
        yield "admin/logentry/", query


def test_no_page_reads_a_long_table_from_end_to_end(
    operator: Operator, accounts: list[User], charge: Charge, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The same share of the rows as of ten million.
    for page in (NewestOnly, AuditLogAdmin):
        monkeypatch.setattr(page, "newest", page.newest * ROWS // 10_000_000)
    key, _ = new_key(accounts[0])
    for path, query in pages(charge, accounts[0], key.hint):
        with CaptureQueriesContext(connection) as captured:
            response = operator.client.get(f"/admin/{path}", query)
        assert response.status_code == 200, (path, query)
        for statement in (each["sql"] for each in captured):
            if statement.startswith("SELECT") and any(table in statement for table in LONG):
                assert read_whole(statement) == [], (path, query, statement)


def read_whole(statement: str) -> list[str]:
    """The long tables that a statement may read from end to end: not by an index, and for rows that
    may be rare."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    return [table for table in re.findall(r"Seq Scan on (\w+).*\n +Filter", plan) if table in LONG]
