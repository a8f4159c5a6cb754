"""A database for each part of the benchmark, and accounts for its load: each on plan Max, with an
API key and a full balance."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import psycopg
from django.core.management import call_command
from django.db import connection, transaction
from psycopg import sql

from accounts import keys, tokens
from accounts.models import ApiKey, User, UserSession
from ai.catalog.services import seed_catalog
from billing.services.balance import change_plan, topup
from billing.services.plans import seed_plans
from common.money import NUSD_PER_USD

BALANCE = 1_000 * NUSD_PER_USD
_TEMPLATE = "bench_template"


@dataclass(frozen=True, slots=True)
class Account:
    account_id: UUID
    api_key_id: UUID
    key: str


def prepare_database() -> None:
    """Tables, money functions, catalog and plans, as each part finds them."""
    call_command("migrate", verbosity=0)
    seed_catalog(local=False)
    seed_plans()
    _copy_database(connection.settings_dict["NAME"], to=_TEMPLATE)


def begin_part() -> None:
    """Forget what other parts have made up: they are fast because their rows are not all that a
    past consists of, so that one part's invariants do not hold over the rows of another."""
    _copy_database(_TEMPLATE, to=connection.settings_dict["NAME"])


def _copy_database(name: str, *, to: str) -> None:
    """Make the database `to` a copy; what was of that name is dropped."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    server = urlsplit(os.environ["DATABASE_URL"])._replace(path="/postgres").geturl()
    names = {"name": sql.Identifier(name), "to": sql.Identifier(to)}
    with psycopg.connect(server, autocommit=True) as session:
        session.execute(sql.SQL("DROP DATABASE IF EXISTS {to} WITH (FORCE)").format(**names))
        session.execute(sql.SQL("CREATE DATABASE {to} TEMPLATE {name}").format(**names))


@transaction.atomic
def open_accounts(count: int, features: Sequence[str] = ()) -> list[Account]:
    """New accounts, whose keys have these features; plan and balance are set by the money
    functions, as for every account."""
    users = User.objects.bulk_create(
        [User(email=f"payer-{uuid4().hex}@bench.example") for _ in range(count)]
    )
    secrets = [keys.generate() for _ in users]
    stored = [ApiKey(account=user, name="bench", features=list(features)) for user in users]
    for row, key in zip(stored, secrets, strict=True):
        row.set_key(key)
    ApiKey.objects.bulk_create(stored)
    for user in users:
        change_plan(account=user, plan="max")
        topup(operation_id=uuid4(), account=user, amount=BALANCE)
    return [Account(row.account_id, row.id, key) for row, key in zip(stored, secrets, strict=True)]


def open_sessions(users: Sequence[User]) -> dict[UUID, str]:
    """A session for each user, and its access token by the user's id."""
    rows = UserSession.objects.bulk_create([UserSession(account=user) for user in users])
    return {
        user.id: tokens.access_token(tokens.Claims(user.id, user.token_version, row.id))
        for user, row in zip(users, rows, strict=True)
    }
