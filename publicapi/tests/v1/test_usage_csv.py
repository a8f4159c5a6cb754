"""GET /v1/usage?format=csv"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from accounts.models import ApiKey
from common.money import NUSD_PER_USD
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, Customer
from publicapi.tests.v1.errors import RATE_HEADERS, refusal
from publicapi.tests.v1.usage_seed import use
from publicapi.v1.usage import MAX_CSV_ROWS
from tests.personas import new_key

HEADER = "date,key_id,name,hint,model,requests,tokens_in,tokens_out,usd"
MAY = date(2026, 5, 1)
PATH = "/v1/usage?format=csv&from=2026-05-01&to=2026-07-31"


def rows(customer: Customer, query: str = "") -> list[dict[str, Any]]:
    response = customer.get(PATH + query)
    assert response.status_code == 200, response.text
    return list(csv.DictReader(response.text.splitlines(keepends=True)))


def test_it_is_a_file_with_a_row_for_each_day_key_and_model(alice: Customer) -> None:
    use(alice.user, alice.key, MAY, model=IN_PLAN, cost=500_000_001)
    use(alice.user, alice.key, MAY, model=IN_PLAN, cost=2)
    use(alice.user, alice.key, MAY + timedelta(days=1), model=BALANCE_ONLY, cost=1)

    response = alice.get(PATH)

    assert response.status_code == 200
    assert response.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    name = "usage_2026-05-01_2026-07-31.csv"
    assert response.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert all(header in response.headers for header in RATE_HEADERS)
    key = f"{alice.key.pk},test,{alice.key.hint}"
    assert response.text.split("\r\n") == [
        HEADER,
        f"2026-05-01,{key},{IN_PLAN},2,10,20,0.500000003",
        f"2026-05-02,{key},{BALANCE_ONLY},1,5,10,0.000000002",
        "",
    ]


def test_without_usage_there_is_the_header_alone(alice: Customer) -> None:
    assert alice.get(PATH).text == f"{HEADER}\r\n"


def test_it_adds_up_to_the_report(alice: Customer) -> None:
    other, _ = new_key(alice.user)
    for number in range(6):
        key, model = (alice.key, other)[number % 2], (BALANCE_ONLY, IN_PLAN)[number % 3 % 2]
        use(alice.user, key, MAY + timedelta(days=number // 2), model=model, cost=10**number + 7)
    totals = alice.get(PATH.replace("format=csv", "")).json()["totals"]

    exported = rows(alice)

    assert sum(Decimal(row["usd"]) for row in exported) == Decimal(str(totals["usd"]))
    for name in ("requests", "tokens_in", "tokens_out"):
        assert sum(int(row[name]) for row in exported) == totals[name]


def test_a_key_narrows_it_to_itself_and_the_web_app_is_left_out(alice: Customer) -> None:
    other, _ = new_key(alice.user)
    for key in (alice.key, other, None):
        use(alice.user, key, MAY)
    assert len(rows(alice)) == 2
    assert [row["key_id"] for row in rows(alice, f"&key={other.pk}")] == [str(other.pk)]


@pytest.mark.parametrize(
    "name",
    [
        '=HYPERLINK("https://evil.example","Open")',
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "＝1＋1",  # noqa: RUF001
    ],
)
def test_a_name_is_never_a_formula(alice: Customer, name: str) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(name=name)
    use(alice.user, alice.key, MAY)
    [row] = rows(alice)
    assert row["name"] == f"'{name}"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("x;=1+1", "x;'=1+1"),
        ("x\t=1+1", "x\t'=1+1"),
        ("x,+1", "x,'+1"),
        ("x|@SUM(A1)", "x|'@SUM(A1)"),
        ('";=1+1', "\";'=1+1"),
        ("x; '=1+1", "x;' '=1+1"),
        ("a;=1;-2", "a;'=1;'-2"),
        *(
            (f"{sign}1+1", f"'{sign}1+1")
            for sign in "\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
        ),
        ("x;\ufe661", "x;'\ufe661"),
        (" =1+1", "' =1+1"),
        ("\u200b=1+1", "'\u200b=1+1"),
        ('"=1+1', "'\"=1+1"),
    ],
)
def test_no_part_of_a_name_is_a_formula_however_a_spreadsheet_splits_it(
    alice: Customer, name: str, written: str
) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(name=name)
    use(alice.user, alice.key, MAY)
    [row] = rows(alice)
    assert row["name"] == written


@pytest.mark.parametrize(
    "name", ["a=b", "laptop, the old one", 'the "big" one', "two\r\nlines", "ñ"]
)
def test_any_other_name_is_told_as_it_is(alice: Customer, name: str) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(name=name)
    use(alice.user, alice.key, MAY)
    [row] = rows(alice)
    assert (row["name"], row["model"]) == (name, BALANCE_ONLY)


@contextmanager
def filled_rollup(key: ApiKey, count: int) -> Iterator[None]:
    """So many rows of the rollup, without the calls behind them, until the block ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO billing_usagedaily (account_id, api_key_id, model_id, day, billed)"
            " SELECT %s, %s, 'model-' || n, '2026-05-01'::date + n %% 92, %s"
            " FROM generate_series(1, %s) n",
            (key.account_id, key.pk, NUSD_PER_USD, count),
        )
        try:
            yield
        finally:
            cursor.execute("DELETE FROM billing_usagedaily WHERE account_id = %s", [key.account_id])


def test_a_file_has_20_000_rows_at_most(alice: Customer) -> None:
    with filled_rollup(alice.key, MAX_CSV_ROWS):
        assert len(rows(alice)) == MAX_CSV_ROWS
    with filled_rollup(alice.key, MAX_CSV_ROWS + 1):
        error = refusal(alice.get(PATH), 400, "invalid_range")
        assert "fewer days" in error["message"]
        assert alice.get(PATH.replace("format=csv", "")).status_code == 200
