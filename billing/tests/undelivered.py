"""A few lines to lose answers in tests, and to send their requests again: the SQL functions, called
directly. The API key of an account has the account's id."""

from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from accounts.models import User
from billing.models import UndeliveredAnswer
from billing.tests import money_functions
from billing.tests.bank import live_owner
from billing.types import Ending, EndStatus, Retry, UndeliveredCall, as_json
from common.ids import uuid7

ROUTE, DIGEST = "/v1/chat/completions", "ab" * 32


def held(account: User, owner: UUID | None = None) -> UUID:
    request = money_functions.request(account, 100, owner=owner or live_owner())
    assert money_functions.hold(request).verdict == "held"
    return request.charge_id


def call_of(charge: UUID, account: User) -> UndeliveredCall:
    """Its key has the id of the account."""
    return UndeliveredCall(charge, account.pk, account.pk, ROUTE, DIGEST, "first")


def note(*calls: UndeliveredCall) -> set[UUID]:
    return {row[0] for row in rows("SELECT * FROM note_undelivered(%s)", as_json(calls))}


def end(call: UndeliveredCall, status: EndStatus = "settled", answer: bytes = b"an answer") -> str:
    """End a call whose caller is known to have gone."""
    ending = Ending(call.charge_id, call.account_id, status, 50, {"tokens_in": 5, "tokens_out": 50})
    found = rows(
        "SELECT outcome FROM money_resolve_undelivered(%s,%s,%s)",
        as_json(call),
        answer,
        as_json(ending),
    )
    return str(found[0][0])


def lose(account: User) -> UUID:
    """A call whose caller went away, and which has ended."""
    call = call_of(held(account), account)
    assert note(call) == {call.charge_id}
    assert end(call) == "resolved"
    return call.charge_id


def store(account: User, size: int, **most: int) -> UUID:
    """Keep an answer of so many bytes, where the bounds are lower than they are. That of all
    answers is as it is: other tests leave some."""
    charge = uuid7()
    bounds = {"one": 16, "account": 64, "all": 1 << 30} | most
    rows(
        "SELECT store_undelivered(%s, %s, %s, %s, %s)",
        as_json(call_of(charge, account)),
        bytes(size),
        *bounds.values(),
    )
    return charge


def retry_of(account: User, *, key: UUID | None = None, retry_of: str | None = None) -> Retry:
    return Retry(account.pk, key or account.pk, ROUTE, DIGEST, retry_of, "kimi-k3", "chat", 100)


def claim(
    account: User, claim_id: UUID | None = None, owner: UUID | None = None, **options: Any
) -> tuple[str, UUID | None]:
    found = rows(
        "SELECT * FROM claim_undelivered(%s, %s, %s)",
        as_json(retry_of(account, **options)),
        claim_id or uuid4(),
        owner or live_owner(),
    )
    return found[0][0], found[0][1]


def kept(account: User) -> set[UUID]:
    found = UndeliveredAnswer.objects.filter(account=account)
    return set(found.values_list("charge_id", flat=True))


def keep(call: UndeliveredCall) -> bool:
    """Its caller went away when it had been settled. The answer is the id of the charge."""
    found = rows("SELECT keep_undelivered(%s, %s)", as_json(call), call.charge_id.bytes)
    return bool(found[0][0])


def claimed(charge: UUID, claim_id: UUID) -> list[tuple[Any, ...]]:
    """What is claimed, as it stands now."""
    return rows("SELECT * FROM claimed_undelivered(%s, %s)", charge, claim_id)


def rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
