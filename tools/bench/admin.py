"""The pages of the operators' admin over a long past of charges: what an operator opens while a
customer waits."""

import time
from collections.abc import Iterator
from uuid import UUID, uuid4

from django.db import connection
from django.test import Client
from django.test.utils import override_settings

from accounts.models import User
from bench.report import Target, milliseconds, table
from bench.servers import BenchError
from billing.models import Charge

MAX_SECONDS = 0.3
_VISITS = 7

Page = tuple[str, str, dict[str, str]]


def run() -> list[Target]:
    """Visit the pages over the charges that the database has, and print how long each takes. The
    promise is of the slowest visit of each page."""
    operator = User.objects.create_superuser(f"operator-{uuid4().hex}@bench.example", None)
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(operator)
    with override_settings(OPERATORS_NEED_SECOND_FACTOR=False):
        taken = [(name, _visit(client, path, query)) for name, path, query in _pages()]
    print(f"The admin over {_charges():,} charges", end="\n\n")
    rows = [
        (name, milliseconds(sorted(seconds)[len(seconds) // 2]), milliseconds(max(seconds)))
        for name, seconds in taken
    ]
    print(table(("page", "median", "slowest"), rows), end="\n\n", flush=True)
    name, seconds = max(taken, key=lambda each: max(each[1]))
    slowest = max(seconds)
    return [
        Target(
            f"slowest page of the admin ({name})",
            milliseconds(slowest),
            f"< {milliseconds(MAX_SECONDS)}",
            slowest < MAX_SECONDS,
        )
    ]


def _pages() -> Iterator[Page]:
    """Name, path and query of each page."""
    for number, charge in enumerate(_some_charges(), start=1):
        yield f"explanation {number}", f"billing/charge/{charge.pk}/change/", {}
        yield f"find a charge {number}", "find/", {"q": str(charge.pk)}
        yield f"find a request {number}", "find/", {"q": charge.request_id}
    email = charge.account.email
    for name in ("charge", "ledgerentry"):
        yield f"{name}: newest", f"billing/{name}/", {}
        yield f"{name}: of an account", f"billing/{name}/", {"q": email}
        yield f"{name}: 90 days", f"billing/{name}/", {"days": "90"}
    yield "charge: failed", "billing/charge/", {"failure": "upstream_error"}
    yield (
        "charge: expired, of an account",
        "billing/charge/",
        {"status__exact": "expired", "q": email},
    )
    yield "ledgerentry: adjustments", "billing/ledgerentry/", {"kind__exact": "adjust"}
    yield "usage by day", "billing/usagedaily/", {}
    yield "jobs", "jobs/job/", {}
    yield "jobs: failed", "jobs/job/", {"status__exact": "failed"}
    yield "conversations", "conversations/conversation/", {}
    yield "mails", "accounts/outgoingemail/", {}
    yield "audit log", "admin/logentry/", {}
    yield "users", "accounts/user/", {}


def _some_charges() -> list[Charge]:
    """The oldest charge, the newest, and one between. Raises BenchError where there are none."""
    charges = Charge.objects.select_related("account").order_by("pk")
    oldest, newest = charges.first(), charges.last()
    if oldest is None or newest is None:
        raise BenchError("There is no charge to explain.")
    between = UUID(int=(oldest.pk.int + newest.pk.int) // 2)
    return [oldest, *charges.filter(pk__gte=between)[:1], newest]


def _charges() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltuples::bigint FROM pg_class WHERE oid = 'billing_charge'::regclass"
        )
        return int(cursor.fetchone()[0])


def _visit(client: Client, path: str, query: dict[str, str]) -> list[float]:
    """Seconds of each visit but the first. Raises BenchError where a page does not open."""
    seconds = []
    for _ in range(_VISITS):
        started = time.perf_counter()
        response = client.get(f"/admin/{path}", query, secure=True)
        seconds.append(time.perf_counter() - started)
        if response.status_code != 200:
            raise BenchError(f"GET /admin/{path} answered {response.status_code}.")
    return seconds[1:]
