"""GET /v1/usage"""

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from accounts.models import ApiKey
from common.money import NUSD_PER_USD
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, Customer
from publicapi.tests.v1.errors import RATE_HEADERS, refusal
from publicapi.tests.v1.usage_seed import use
from tests.personas import new_key

MAY = date(2026, 5, 1)
JUNE = date(2026, 6, 1)
ALL_OF_MAY = "from=2026-05-01&to=2026-05-31"
NOBODYS = "019aa5e0-0000-7000-8000-000000000000"


def report(customer: Customer, query: str = ALL_OF_MAY) -> dict[str, Any]:
    """The report, its dollars as they are written."""
    response = customer.get(f"/v1/usage?{query}")
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = json.loads(response.content, parse_float=Decimal)
    return answer


def nano(amount: Any) -> int:
    """Whole nano-USD of an amount in a report."""
    whole = Decimal(amount) * NUSD_PER_USD
    assert whole == int(whole), f"{amount} has more than nine decimals"
    return int(whole)


def requests(customer: Customer, query: str) -> int:
    return int(report(customer, query)["totals"]["requests"])


# --- What it says ---------------------------------------------------------------------------------


def test_it_tells_what_the_calls_used_and_what_was_billed(alice: Customer) -> None:
    alice.chat(model=BALANCE_ONLY, steer={"tokens": 40})
    alice.chat(model=BALANCE_ONLY, stream=True)
    alice.chat(model=IN_PLAN)
    charges = alice.charges()
    dear = sum(charge.charge_balance for charge in charges)
    cheap = sum(charge.charge_plan for charge in charges)
    today = datetime.now(UTC).date()

    response = alice.get("/v1/usage")

    assert response.headers["content-type"] == "application/json"
    assert all(name in response.headers for name in RATE_HEADERS)
    assert response.json() == {
        "object": "usage",
        "from": f"{today.replace(day=1)}T00:00:00Z",
        "to": f"{today}T23:59:59Z",
        "totals": {
            "requests": 3,
            "tokens_in": sum(charge.tokens_in for charge in charges),
            "tokens_out": sum(charge.tokens_out for charge in charges),
            "usd": (dear + cheap) / NUSD_PER_USD,
        },
        "by_key": [
            {
                "key_id": str(alice.key.pk),
                "name": "test",
                "hint": alice.raw_key[-4:],
                "requests": 3,
                "usd": (dear + cheap) / NUSD_PER_USD,
            }
        ],
        "by_model": [
            {"model": BALANCE_ONLY, "requests": 2, "usd": dear / NUSD_PER_USD},
            {"model": IN_PLAN, "requests": 1, "usd": cheap / NUSD_PER_USD},
        ],
    }
    assert dear == alice.spent_of_balance()
    assert cheap == alice.spent_of_plan()


def test_without_usage_everything_is_zero(alice: Customer) -> None:
    answer = report(alice)
    assert answer["totals"] == {"requests": 0, "tokens_in": 0, "tokens_out": 0, "usd": 0}
    assert (answer["by_key"], answer["by_model"]) == ([], [])


def test_a_call_that_brought_nothing_is_no_request(alice: Customer) -> None:
    assert alice.chat(steer={"fail": "before"}).status_code == 502
    assert report(alice, "")["totals"]["requests"] == 0


def test_the_figures_add_up_to_the_nano_dollar(customer: NewCustomer) -> None:
    alice = customer(balance_usd=100_000)
    other, _ = new_key(alice.user)
    costs = [1, 3, 333_333_333, 123_456_789, 7 * NUSD_PER_USD + 1, 40_000 * NUSD_PER_USD - 1]
    for number, cost in enumerate(costs):
        key, model = (alice.key, other)[number % 2], (BALANCE_ONLY, IN_PLAN)[number // 3]
        use(alice.user, key, MAY + timedelta(days=number), model=model, cost=cost)
    billed = sum(charge.charge_plan + charge.charge_balance for charge in alice.charges())

    answer = report(alice)

    assert nano(answer["totals"]["usd"]) == billed
    assert sum(nano(row["usd"]) for row in answer["by_key"]) == billed
    assert sum(nano(row["usd"]) for row in answer["by_model"]) == billed
    assert sum(row["requests"] for row in answer["by_key"]) == len(costs)
    assert sum(row["requests"] for row in answer["by_model"]) == len(costs)
    assert (answer["totals"]["tokens_in"], answer["totals"]["tokens_out"]) == (30, 60)


def test_a_single_nano_dollar_is_told(alice: Customer) -> None:
    use(alice.user, alice.key, MAY, model=IN_PLAN, cost=1)
    answer = report(alice)
    assert nano(answer["totals"]["usd"]) == nano(answer["by_key"][0]["usd"]) == 1


def test_the_dearest_comes_first(alice: Customer) -> None:
    other, _ = new_key(alice.user)
    for key, model, cost in [(alice.key, IN_PLAN, 1), (other, BALANCE_ONLY, 50)]:
        use(alice.user, key, MAY, model=model, cost=cost)
    answer = report(alice)
    assert [row["key_id"] for row in answer["by_key"]] == [str(other.pk), str(alice.key.pk)]
    assert [row["model"] for row in answer["by_model"]] == [BALANCE_ONLY, IN_PLAN]


# --- Whose usage ----------------------------------------------------------------------------------


def test_one_key_watches_all_keys_of_the_account_revoked_ones_too(alice: Customer) -> None:
    other, raw = new_key(alice.user)
    assert alice.chat_with(raw).status_code == 200
    ApiKey.objects.filter(pk=other.pk).update(name="laptop", revoked_at=datetime.now(UTC))

    [row] = report(alice, "")["by_key"]

    assert (row["key_id"], row["name"], row["hint"]) == (str(other.pk), "laptop", raw[-4:])
    assert row["requests"] == 1


def test_what_the_web_app_used_is_not_told(alice: Customer) -> None:
    use(alice.user, None, MAY)
    assert report(alice)["totals"] == {"requests": 0, "tokens_in": 0, "tokens_out": 0, "usd": 0}
    assert report(alice)["by_model"] == []


def test_what_others_used_is_not_told(alice: Customer, customer: NewCustomer) -> None:
    bob = customer(name="bob")
    use(bob.user, bob.key, MAY)
    assert report(alice)["totals"]["requests"] == 0
    assert report(bob)["totals"]["requests"] == 1


def test_a_key_narrows_the_report_to_itself(alice: Customer) -> None:
    other, _ = new_key(alice.user)
    use(alice.user, alice.key, MAY, cost=10)
    use(alice.user, other, MAY, model=IN_PLAN, cost=7)
    ApiKey.objects.filter(pk=other.pk).update(revoked_at=datetime.now(UTC))

    answer = report(alice, f"{ALL_OF_MAY}&key={other.pk}")

    assert nano(answer["totals"]["usd"]) == 7
    assert [row["key_id"] for row in answer["by_key"]] == [str(other.pk)]
    assert [row["model"] for row in answer["by_model"]] == [IN_PLAN]


def test_a_key_that_was_never_used_has_an_empty_report(alice: Customer) -> None:
    other, _ = new_key(alice.user)
    use(alice.user, alice.key, MAY)
    answer = report(alice, f"{ALL_OF_MAY}&key={other.pk}")
    assert (answer["totals"]["requests"], answer["by_key"]) == (0, [])


def test_another_accounts_key_is_not_found(alice: Customer, customer: NewCustomer) -> None:
    bob = customer(name="bob")
    refusal(alice.get(f"/v1/usage?key={bob.key.pk}"), 404, "key_not_found")


@pytest.mark.parametrize(
    "key",
    ["", "5", "mk_", "%00", "%ff", "null", NOBODYS, f"{NOBODYS}x", "é", "9" * 5000],
    ids=lambda key: key[:10] or "empty",
)
@pytest.mark.parametrize("form", ["json", "csv"])
def test_what_is_no_key_of_the_account_is_not_found(alice: Customer, key: str, form: str) -> None:
    response = alice.get(f"/v1/usage?key={key}&format={form}")
    refusal(response, 404, "key_not_found")
    assert response.headers["x-should-retry"] == "false"


def test_two_keys_at_once_are_not_found(alice: Customer) -> None:
    query = f"key={alice.key.pk}&key={alice.key.pk}"
    refusal(alice.get(f"/v1/usage?{query}"), 404, "key_not_found")


# --- Which days -----------------------------------------------------------------------------------


def test_both_ends_are_whole_utc_days(alice: Customer) -> None:
    last = time(23, 59, 59, 999_999, tzinfo=UTC)
    midnight = time(tzinfo=UTC)
    use(alice.user, alice.key, MAY - timedelta(days=1), at=last)
    use(alice.user, alice.key, MAY, at=midnight)
    use(alice.user, alice.key, date(2026, 5, 31), at=last)
    use(alice.user, alice.key, JUNE, at=midnight)
    assert requests(alice, ALL_OF_MAY) == 2
    assert requests(alice, "from=2026-04-30&to=2026-05-01") == 2
    assert requests(alice, "from=2026-05-31&to=2026-05-31") == 1
    assert requests(alice, "from=2026-05-02&to=2026-05-30") == 0


def test_the_answer_names_the_first_and_the_last_second(alice: Customer) -> None:
    answer = report(alice, "from=2026-02-28&to=2026-03-01")
    assert answer["from"] == "2026-02-28T00:00:00Z"
    assert answer["to"] == "2026-03-01T23:59:59Z"


def test_by_default_it_is_this_month_until_today(alice: Customer) -> None:
    today = datetime.now(UTC).date()
    first = today.replace(day=1)
    use(alice.user, alice.key, first - timedelta(days=1))
    use(alice.user, alice.key, first)
    use(alice.user, alice.key, today)
    assert requests(alice, "") == 2
    assert requests(alice, f"from={first - timedelta(days=1)}") == 3
    assert requests(alice, f"to={first}") == (2 if first == today else 1)


def test_a_day_to_come_may_be_named(alice: Customer) -> None:
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert report(alice, f"to={tomorrow}")["to"] == f"{tomorrow}T23:59:59Z"


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-01-01", "2026-04-02"),
        ("2024-01-01", "2024-04-01"),
        ("2025-12-01", "2026-03-02"),
        ("0001-01-01", "0001-04-02"),
        ("9999-10-01", "9999-12-31"),
    ],
)
def test_a_report_covers_up_to_92_days(alice: Customer, first: str, last: str) -> None:
    begin, end = date.fromisoformat(first), date.fromisoformat(last)
    assert (end - begin).days == 91
    assert report(alice, f"from={first}&to={last}")["from"] == f"{first}T00:00:00Z"
    earlier = begin - timedelta(days=1) if begin > date.min else begin
    later = end if earlier < begin else end + timedelta(days=1)
    response = alice.get(f"/v1/usage?from={earlier}&to={later}")
    error = refusal(response, 400, "invalid_range")
    assert "92 days" in error["message"]


@pytest.mark.parametrize(
    "query",
    [
        "from=2026-05-02&to=2026-05-01",
        "from=2026-02-30&to=2026-03-01",
        "from=2026-02-29&to=2026-03-01",
        "from=2026-13-01",
        "from=2026-00-01",
        "from=2026-05-00",
        "from=0000-01-01&to=0000-01-02",
        "from=20260501&to=20260502",
        "from=2026-5-1&to=2026-05-02",
        "from=2026-W20-1",
        "from=2026-05-01T00:00:00Z&to=2026-05-02",
        "from=01.05.2026",
        "from=1777593600",
        "from=%202026-05-01&to=2026-05-02",
        "from=2026-05-01%0A&to=2026-05-02",
        "from=%D9%A2%D9%A0%D9%A2%D9%A6-05-01&to=2026-05-02",
        "from=",
        "to=",
        "from",
        "from=yesterday",
        "from=%00",
        "from=%ff%fe",
        "from=-2026-05-01",
        "from=99999-01-01",
        "from=9999-12-31",
        "to=2020-01-01",
        "from=2026-05-01&from=2026-05-01&to=2026-05-02",
        "from=2026-05-01&to=2026-05-02&to=2026-05-03",
        f"from={'9' * 5000}",
    ],
    ids=lambda query: query[:30],
)
def test_any_other_range_is_refused(alice: Customer, query: str) -> None:
    error = refusal(alice.get(f"/v1/usage?{query}"), 400, "invalid_range")
    assert "`from`" in error["message"] or "`to`" in error["message"]


# --- Who may ask, and how -------------------------------------------------------------------------


def test_a_key_is_needed(alice: Customer) -> None:
    refusal(alice.http.get("/v1/usage"), 401, "missing_api_key", keyed=False)
    alice.revoke()
    refusal(alice.get("/v1/usage"), 401, "invalid_api_key", keyed=False)


def test_the_account_and_the_plan_are_looked_at_before_the_query(customer: NewCustomer) -> None:
    refusal(customer(plan="pro").get("/v1/usage?from=x"), 403, "api_access_required")
    alice = customer()
    alice.suspend()
    refusal(alice.get("/v1/usage?from=x"), 403, "account_disabled")


def test_the_range_is_looked_at_before_the_key(alice: Customer) -> None:
    refusal(alice.get("/v1/usage?from=x&key=x"), 400, "invalid_range")


def test_a_key_that_may_spend_nothing_may_read_the_report(customer: NewCustomer) -> None:
    alice = customer(cap=0, balance_usd=0, models=(IN_PLAN,))
    use(alice.user, None, MAY, cost=0)
    assert report(alice)["totals"]["requests"] == 0


def test_names_that_mean_nothing_are_ignored(alice: Customer) -> None:
    use(alice.user, alice.key, MAY)
    assert requests(alice, f"{ALL_OF_MAY}&limit=0&bucket_width=1d&From=x&=&&%00") == 1


@pytest.mark.parametrize("form", ["", "xml", "JSON", "csv&format=csv"])
def test_an_unknown_format_is_refused(alice: Customer, form: str) -> None:
    refusal(alice.get(f"/v1/usage?format={form}"), 400, "invalid_body")


def test_json_may_be_named(alice: Customer) -> None:
    assert report(alice, "format=json")["object"] == "usage"


@pytest.mark.parametrize("query", ["", "?format=csv"])
def test_head_answers_the_headers_alone(alice: Customer, query: str) -> None:
    path = f"/v1/usage{query}"
    whole, head = alice.get(path), alice.http.head(path, headers=alice.headers)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-length", "content-type"):
        assert head.headers[name] == whole.headers[name]


def test_a_wrong_method_is_told_the_right_ones(http: httpx.Client) -> None:
    response = http.post("/v1/usage")
    refusal(response, 405, "method_not_allowed", keyed=False)
    assert response.headers["allow"] == "GET, HEAD, OPTIONS"
