"""The first requests of a web app: profile, entitlements, balance, transactions.

The account has a million rows in its ledger. Requests run one at a time, each kind in turn, beside
the smallest answers of Django; signing in runs beside the bare hash.
"""

import json
import time
from http.client import HTTPConnection
from itertools import cycle
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import connection

from accounts.models import User
from bench.servers import BenchError, Server
from devserver.ports import LOOPBACK

ENTITLEMENTS = "GET /api/users/me/entitlements"
WALLET = "GET /api/billing/wallet"
FIRST_PAGE, DEEP_PAGE = "transactions, first page", "transactions, deep page"
UNKNOWN, ME = "GET a path that is not there", "GET /api/auth/me"
LOGIN, ARGON2 = "POST /api/auth/login", "Argon2 alone"

# Medians, in milliseconds.
PROMISED = {ENTITLEMENTS: 15, WALLET: 15, FIRST_PAGE: 20, DEEP_PAGE: 20}

_TRANSACTIONS = "/api/billing/transactions"
_ROUNDS, _LOGINS = 200, 25
_WARM_UP = 5
# One address may make 100 requests a minute to /api/auth, and 1,000 to other paths.
_VISITOR, *_ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]
_DEEP = 500_000

# A movement for each charge, in a chain that continues at the end of the ledger.
_SEED_LEDGER = """
INSERT INTO billing_ledgerentry
    (id, account_id, seq, kind, delta, balance_after, description, created_at)
SELECT c.id, w.account_id, w.seq + row_number() OVER running, 'charge', -c.charge_balance,
       w.balance - sum(c.charge_balance) OVER running, c.model_id, c.resolved_at
FROM billing_charge c JOIN billing_wallet w USING (account_id)
WHERE c.account_id = %(account)s
WINDOW running AS (ORDER BY c.id)
"""
_END_OF_CHAIN = """
UPDATE billing_wallet w SET balance = l.balance_after, seq = l.seq
FROM (SELECT balance_after, seq FROM billing_ledgerentry
      WHERE account_id = %(account)s ORDER BY seq DESC LIMIT 1) l
WHERE account_id = %(account)s RETURNING l.seq
"""

Times = dict[str, list[float]]


def seed_ledger(account_id: UUID) -> int:
    """Write the movements of an account's charges into its ledger. Returns the number of rows."""
    parameters = {"account": account_id}
    with connection.cursor() as cursor:
        cursor.execute(_SEED_LEDGER, parameters)
        cursor.execute(_END_OF_CHAIN, parameters)
        [rows] = cursor.fetchone()
        # The server would analyse by itself, a little later.
        cursor.execute("VACUUM ANALYZE billing_ledgerentry, billing_wallet")
    return int(rows)


def measure(service: Server, account_id: UUID) -> Times:
    """Seconds of each request, by its kind. Raises BenchError for an unexpected answer."""
    user, password = User.objects.get(pk=account_id), uuid4().hex
    user.set_password(password)
    user.save()
    visitor = Client(service.port, [_VISITOR])
    times = _logins(visitor, user, password)
    signed_in = visitor.sign_in(user.email, password)
    client = Client(service.port, _ADDRESSES, signed_in["access_token"])
    times.update(_reads(client, _deep_page(account_id)))
    return times


def _logins(visitor: "Client", user: User, password: str) -> Times:
    """Sign in, and compute the hash of the password alone, in turn."""
    hasher = Argon2PasswordHasher()
    times: Times = {LOGIN: [], ARGON2: []}
    for _ in range(_LOGINS + _WARM_UP):
        started = time.perf_counter()
        visitor.sign_in(user.email, password)
        signed_in = time.perf_counter()
        if not hasher.verify(password, user.password):
            raise BenchError("The hash is not that of the password.")
        times[LOGIN].append(signed_in - started)
        times[ARGON2].append(time.perf_counter() - signed_in)
    return {name: seconds[_WARM_UP:] for name, seconds in times.items()}


def _reads(client: "Client", deep_page: str) -> Times:
    paths = {
        UNKNOWN: ("/api/nothing", 404),
        ME: ("/api/auth/me", 200),
        ENTITLEMENTS: ("/api/users/me/entitlements", 200),
        WALLET: ("/api/billing/wallet", 200),
        FIRST_PAGE: (_TRANSACTIONS, 200),
        DEEP_PAGE: (deep_page, 200),
    }
    times: Times = {name: [] for name in paths}
    for _ in range(_ROUNDS + _WARM_UP):
        for name, (path, status) in paths.items():
            times[name].append(client.get(path, status))
    return {name: seconds[_WARM_UP:] for name, seconds in times.items()}


def _deep_page(account_id: UUID) -> str:
    """The page that begins in the middle of the ledger."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM billing_ledgerentry WHERE account_id = %s AND seq = %s",
            (account_id, _DEEP),
        )
        [before] = cursor.fetchone()
    return f"{_TRANSACTIONS}?before={before}"


class Client:
    """Sends requests from each of these local addresses in turn."""

    def __init__(self, port: int, addresses: list[str], token: str = "") -> None:
        self._connections = cycle(
            [
                HTTPConnection(LOOPBACK, port, timeout=30, source_address=(address, 0))
                for address in addresses
            ]
        )
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str, status: int) -> float:
        """Seconds until the whole answer has come."""
        started = time.perf_counter()
        self._ask("GET", path, None, status)
        return time.perf_counter() - started

    def post(self, path: str, body: bytes, status: int = 200) -> bytes:
        """The whole answer."""
        return self._ask("POST", path, body, status)

    def sign_in(self, email: str, password: str) -> dict[str, Any]:
        """The pair of tokens."""
        body = json.dumps({"email": email, "password": password}).encode()
        answer: dict[str, Any] = json.loads(self._ask("POST", "/api/auth/login", body, 200))
        return answer

    def _ask(self, method: str, path: str, body: bytes | None, status: int) -> bytes:
        connection = next(self._connections)
        headers = {**self._headers, "Content-Type": "application/json"}
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != status:
            raise BenchError(f"{method} {path} answered {response.status}: {answer.decode()}")
        return answer
