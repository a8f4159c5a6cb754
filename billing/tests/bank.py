"""A few lines to move money in tests: the SQL functions, called directly."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connection, transaction
from django.db.models.functions import Now

from accounts.models import ApiKey, User
from ai.catalog.models import PriceVersion
from billing.models import Charge, Wallet
from billing.services import balance as balance_services
from billing.services.endings import RESOLVE
from billing.services.holds import HOLD
from billing.types import Checkpoint, Ending, EndStatus, Funding, HoldRequest, as_json
from billing.units import Units
from common.ids import uuid7
from common.money import NUSD_PER_USD
from tests.personas import new_user
from tests.service import database_url
from work.leases.models import Lease

# No plan has an allowance for it, so every call is paid from the balance, at twice the cost.
BALANCE_ONLY = "kimi-k3"
# Max grants an allowance for it.
IN_PLAN = "gpt-6-luna"
# The free plan has messages of it, and the paid ones an allowance.
FREE_MODEL = "smollm2-135m"


def new_account(*, plan: str = "max", balance: int = NUSD_PER_USD) -> User:
    """An account with a balance in nano-USD."""
    user = new_user("alice", plan=plan)
    if balance:
        balance_services.topup(operation_id=uuid7(), account=user, amount=balance)
    return user


def live_owner() -> UUID:
    """A process with a fresh lease."""
    owner = uuid4()
    run("SELECT lease_renew(%s, 'test')", owner)
    return owner


def dead_owner() -> UUID:
    """A process whose lease has run out."""
    owner = live_owner()
    kill(owner)
    return owner


def kill(owner: UUID) -> None:
    """The process has gone, its lease has run out, and a sweep has seen it."""
    run(
        "UPDATE leases_lease SET expires_at = now() - interval '15 s',"
        " doubted_at = now() - interval '10 s' WHERE owner_id = %s RETURNING 1",
        owner,
    )


@contextmanager
def no_process_lives() -> Iterator[None]:
    """All processes have gone, and a sweep has seen it. At the end they are as alive as before:
    other tests use some of them."""
    processes = Lease.objects.exclude(kind="job").filter(expires_at__gt=Now())
    owners = list(processes.values_list("owner_id", flat=True))
    for owner in owners:
        kill(owner)
    yield
    for owner in owners:
        run(
            "UPDATE leases_lease SET doubted_at = NULL, expires_at = now() + interval '30 s'"
            " WHERE owner_id = %s RETURNING 1",
            owner,
        )


def request_for(
    account: User,
    worst: int,
    *,
    owner: UUID,
    price: int,
    charge: UUID | None = None,
    key: ApiKey | None = None,
    model: str = BALANCE_ONLY,
    seconds: int = 600,
    funding: Funding = "customer",
    free_window: bool = False,
    group: UUID | None = None,
) -> HoldRequest:
    """A call to the API. `price` is the id of the price version."""
    return HoldRequest(
        charge_id=charge or uuid7(),
        account_id=account.pk,
        api_key_id=key.pk if key else None,
        model_id=model,
        price_version_id=price,
        source="api",
        kind="chat",
        worst_cost=worst,
        owner_id=owner,
        seconds=seconds,
        request_id="req_test",
        funding=funding,
        free_window=free_window,
        group_id=group,
    )


def price_of(model: str) -> int:
    """The id of the model's first price version."""
    return PriceVersion.objects.filter(model_id=model).earliest("valid_from").pk


def hold(
    account: User, worst: int, *, owner: UUID, model: str = BALANCE_ONLY, **rest: Any
) -> tuple[str, UUID]:
    """Hold what `request_for` describes. Returns the verdict and the charge's id."""
    price = price_of(model)
    request = request_for(account, worst, owner=owner, price=price, model=model, **rest)
    return run(HOLD, as_json(request))[0], request.charge_id


def ended(charge: UUID, status: EndStatus, cost: int = 0, units: Units | None = None) -> str:
    """The parameter of money_resolve, which finds the account by the charge."""
    nobody = UUID(int=0)
    return as_json(Ending(charge, nobody, status, cost, units or {}))


def settle(charge: UUID, cost: int, *, tokens_out: int = 10) -> str:
    """Settle a charge. Returns the outcome."""
    return str(
        run(RESOLVE, ended(charge, "settled", cost, {"tokens_in": 5, "tokens_out": tokens_out}))[0]
    )


def release(charge: UUID) -> str:
    return str(run(RESOLVE, ended(charge, "released"))[0])


def expire(charge: UUID) -> str:
    return str(run("SELECT * FROM money_expire(%s)", charge)[0])


def expire_what_nobody_ends() -> list[UUID]:
    """Expire the charges that are held for no process, or for one that a test has made up. Returns
    them: whoever leaves one makes another test fail, as soon as its deadline has passed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH nobodys AS MATERIALIZED ("
            " SELECT c.id FROM billing_charge c LEFT JOIN leases_lease l USING (owner_id)"
            " WHERE c.status = 'held' AND coalesce(l.kind, 'test') = 'test')"
            " SELECT id FROM nobodys, LATERAL money_expire(id)"
        )
        return [charge for (charge,) in cursor.fetchall()]


def release_all(account: User) -> None:
    """Release whatever the account still holds."""
    for charge in Charge.objects.filter(account=account, status="held"):
        release(charge.pk)


def checkpoint(owner: UUID, charge: UUID, cost: int, tokens_out: int = 3) -> None:
    run(
        "SELECT count(*) FROM money_checkpoint(%s, %s)",
        [owner],
        as_json([Checkpoint(charge, {"tokens_in": 5, "tokens_out": tokens_out}, cost)]),
    )


def charge_of(charge: UUID) -> Charge:
    return Charge.objects.get(pk=charge)


def wallet_of(account: User) -> Wallet:
    return Wallet.objects.get(pk=account.pk)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Money moves at that moment, in one transaction."""
    with transaction.atomic():
        set_clock(moment)
        yield


def set_clock(moment: datetime) -> None:
    """The time for all that follows in this transaction."""
    run("SELECT set_config('platform.clock', %s, true)", moment.isoformat())


@contextmanager
def other_connection() -> Iterator[psycopg.Connection[Any]]:
    """A second connection to the same database, in autocommit: another process, so to speak."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        yield other


def run(sql: str, *params: Any) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row: tuple[Any, ...] = cursor.fetchone()
        return row
