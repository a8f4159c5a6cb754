"""The usage report of an account with a million charges, beside the list of models, and beside the
same report computed from the charges."""

import json
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import cycle
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.models import User
from accounts.services.api_keys import MAX_ACTIVE_KEYS, create_key
from bench import report, seed
from bench.servers import BenchError, Server
from devserver.ports import LOOPBACK

CHARGES = 1_000_000
FIRST, LAST = "2026-05-01", "2026-07-31"
_DAYS = 92
_MODELS = 18
# Divided among five keys, each of which may make 120 requests a minute.
_REPORTS = 300
_LISTS = 100
_DIRECT_READS = 3

# Every key uses every model every day, which gives the rollup as many rows as possible.
_SEED_CHARGES = """
INSERT INTO billing_charge
    (id, account_id, api_key_id, model_id, plan_id, price_version_id, source, kind, funding, status,
     request_id, owner_id, month, admitted_at, deadline_at, resolved_at, worst_cost, hold_plan,
     hold_balance, first_output_at, units, cost, charge_plan, charge_balance)
SELECT uuidv7(), %(account)s, (%(keys)s::uuid[])[1 + n / %(days)s %% cardinality(%(keys)s::uuid[])],
       model.id, 'max', model.price, 'api', 'chat', 'customer', 'settled', 'bench', uuidv7(),
       date_trunc('month', day)::date, day, day, day, cost, 0, 2 * cost, day,
       '{"tokens_in": 100, "tokens_out": 60}'::jsonb, cost, 0, 2 * cost
FROM generate_series(0, %(charges)s - 1) n
CROSS JOIN LATERAL (SELECT (%(first)s::date + n %% %(days)s)::timestamp AT TIME ZONE 'UTC' AS day,
                           100000 + n %% 997 AS cost) made
JOIN (SELECT model_id AS id, max(id) AS price, row_number() OVER (ORDER BY model_id) - 1 AS number
      FROM catalog_priceversion GROUP BY model_id ORDER BY model_id LIMIT %(models)s) model
  ON model.number = n / (%(days)s * cardinality(%(keys)s::uuid[])) %% %(models)s
"""
_SEED_ROLLUP = """
INSERT INTO billing_usagedaily
    (account_id, api_key_id, model_id, day, requests, tokens_in, tokens_out, billed)
SELECT account_id, api_key_id, model_id, (admitted_at AT TIME ZONE 'UTC')::date, count(*),
       sum((units ->> 'tokens_in')::int), sum((units ->> 'tokens_out')::int),
       sum(charge_plan + charge_balance)
FROM billing_charge WHERE account_id = %(account)s GROUP BY 1, 2, 3, 4
"""
_SEED_KEY_MONTHS = """
INSERT INTO billing_keymonth (api_key_id, month, billed, held, requests)
SELECT api_key_id, month, sum(charge_plan + charge_balance), 0, count(*)
FROM billing_charge WHERE account_id = %(account)s GROUP BY 1, 2
"""
_READ_CHARGES = """
SELECT api_key_id, model_id, count(*), sum((units ->> 'tokens_in')::int),
       sum((units ->> 'tokens_out')::int),
       sum(charge_plan + charge_balance) AS billed
FROM billing_charge
WHERE account_id = %(account)s AND status IN ('settled', 'expired') AND api_key_id IS NOT NULL
  AND admitted_at >= %(first)s::date AND admitted_at < %(last)s::date + 1
GROUP BY GROUPING SETS ((), (api_key_id), (model_id))
ORDER BY billed DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds of each request; `rows` is the number of the rollup's rows in a report."""

    reports: list[float]
    lists: list[float]
    direct: list[float]
    rows: int

    @property
    def p99(self) -> float:
        return report.p99(self.reports)


@dataclass(frozen=True, slots=True)
class Reporter:
    """An account with many charges, and its keys."""

    account_id: UUID
    keys: list[str]
    rows: int


def seed_past() -> Reporter:
    """An account with a million charges in 92 days, by five keys and for 18 models, and all
    counters that the money functions would have updated, but not its ledger
    (`web_app.seed_ledger`)."""
    [payer] = seed.open_accounts(1)
    user = User.objects.get(pk=payer.account_id)
    made = [create_key(user=user, name="bench") for _ in range(MAX_ACTIVE_KEYS - 1)]
    parameters: dict[str, Any] = {
        "account": payer.account_id,
        "keys": [payer.api_key_id, *(key.pk for key, _ in made)],
        "charges": CHARGES,
        "days": _DAYS,
        "models": _MODELS,
        "first": FIRST,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEED_CHARGES, parameters)
        cursor.execute(_SEED_KEY_MONTHS, parameters)
        cursor.execute(_SEED_ROLLUP, parameters)
        rows = cursor.rowcount
        # The server would analyse by itself, a little later.
        cursor.execute("VACUUM ANALYZE billing_charge, billing_usagedaily")
    return Reporter(payer.account_id, [payer.key, *(raw for _, raw in made)], rows)


def measure(service: Server, reporter: Reporter) -> Outcome:
    """Reports and lists in sequence over one connection. Raises BenchError if a report differs from
    the charges."""
    path = f"/v1/usage?from={FIRST}&to={LAST}"
    totals = json.loads(_Client(service.port, reporter.keys).get(path)[1])["totals"]
    direct = [_read_charges(reporter.account_id, totals) for _ in range(_DIRECT_READS)]
    # On a connection of its own: the service closes one that is idle for 5 seconds.
    client = _Client(service.port, reporter.keys)
    client.get("/v1/models")
    reports = [client.get(path)[0] for _ in range(_REPORTS)]
    lists = [client.get("/v1/models")[0] for _ in range(_LISTS)]
    return Outcome(reports, lists, direct, reporter.rows)


class _Client:
    """Sends requests with each key in turn."""

    def __init__(self, port: int, keys: list[str]) -> None:
        self._connection = HTTPConnection(LOOPBACK, port, timeout=30)
        self._keys = cycle(keys)

    def get(self, path: str) -> tuple[float, bytes]:
        """Seconds, and the body."""
        started = time.perf_counter()
        headers = {"Authorization": f"Bearer {next(self._keys)}"}
        self._connection.request("GET", path, headers=headers)
        response = self._connection.getresponse()
        body = response.read()
        seconds = time.perf_counter() - started
        if response.status != 200:
            raise BenchError(f"GET {path} answered {response.status}: {body.decode()}")
        return seconds, body


def _read_charges(account_id: UUID, totals: dict[str, float]) -> float:
    """Seconds of the same report without the rollup; `totals` is the service's result."""
    parameters: dict[str, Any] = {"account": account_id, "first": FIRST, "last": LAST}
    started = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(_READ_CHARGES, parameters)
        _, _, *figures, billed = cursor.fetchone()
    seconds = time.perf_counter() - started
    reported = [totals["requests"], totals["tokens_in"], totals["tokens_out"]]
    if reported != figures or round(totals["usd"] * 10**9) != billed:
        raise BenchError(f"The report says {totals}, the charges {figures} and {billed}.")
    return seconds
