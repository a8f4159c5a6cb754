"""What billing tells others. Money is read from the primary database only."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from uuid import UUID

from msgspec import Struct

from accounts.models import User
from billing.models import KeyMonth, Subscription
from common.batching import Batcher
from common.database import get_database
from common.perloop import PerLoop


def current_month() -> date:
    """The first day of this UTC month: the key of allowances and caps."""
    return datetime.now(UTC).date().replace(day=1)


def spent_this_month(key_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Nano-USD billed through each key in this UTC month; keys without any are left out."""
    rows = KeyMonth.objects.filter(api_key_id__in=list(key_ids), month=current_month())
    return dict(rows.values_list("api_key_id", "billed"))


def has_api_access(user: User) -> bool:
    """Does the user's plan include `/v1`?"""
    return Subscription.objects.filter(account=user, plan__api_access=True).exists()


class KeyHolder(Struct, frozen=True):
    """An API key that is not revoked, and the account behind it, as of now."""

    key_id: UUID
    account_id: UUID
    allowed_models: frozenset[str]
    active: bool
    plan: str
    api_access: bool

    def may_call(self, model_id: str) -> bool:
        """Is the model on the key's list? An empty list allows every model."""
        return not self.allowed_models or model_id in self.allowed_models


async def find_key_holder(digest: bytes) -> KeyHolder | None:
    """The holder of the key with that digest; None where it is unknown or revoked."""
    return await _key_holders.get().batcher.run(digest)


class _KeyHolders:
    """The key lookups of one event loop: those at the same time share a round trip."""

    def __init__(self) -> None:
        self.batcher = Batcher(self._find)
        self._lane = get_database().lane()

    async def _find(self, digests: list[bytes]) -> list[KeyHolder | None]:
        rows = await self._lane.rows(
            "SELECT k.digest, k.id, k.account_id, k.allowed_models, u.status, s.plan_id,"
            " p.api_access"
            " FROM accounts_apikey k"
            " JOIN accounts_user u ON u.id = k.account_id"
            " JOIN billing_subscription s ON s.account_id = u.id"
            " JOIN billing_plan p ON p.key = s.plan_id"
            " WHERE k.revoked_at IS NULL"
            " AND k.digest IN (SELECT decode(d, 'hex') FROM unnest(string_to_array(%s, ',')) d)",
            # One string: psycopg takes longer to write an array than PostgreSQL to look it up.
            (",".join(digest.hex() for digest in digests),),
        )
        holders = {digest: _holder(*values) for digest, *values in rows}
        return [holders.get(digest) for digest in digests]


def _holder(
    key_id: UUID, account_id: UUID, models: list[str], status: str, plan: str, api_access: bool
) -> KeyHolder:
    active = status == User.Status.ACTIVE
    return KeyHolder(key_id, account_id, frozenset(models), active, plan, api_access)


_key_holders = PerLoop(_KeyHolders)


async def models_in_plan(plan: str) -> frozenset[str]:
    """The models of which a plan grants an allowance."""
    rows = await get_database().rows(
        "SELECT model_id FROM billing_planallowance WHERE plan_id = %s AND granted > 0", (plan,)
    )
    return frozenset(row[0] for row in rows)


class TotalUsage(Struct, frozen=True):
    """What calls used, and what was billed for them in nano-USD."""

    requests: int
    tokens_in: int
    tokens_out: int
    billed: int


class KeyUsage(Struct, frozen=True):
    """What was billed through one key, in nano-USD. `hint` is its last four characters."""

    key_id: UUID
    name: str
    hint: str
    requests: int
    billed: int


class ModelUsage(Struct, frozen=True):
    """What was billed for one model, in nano-USD."""

    model_id: str
    requests: int
    billed: int


class UsageReport(Struct, frozen=True):
    """Usage through API keys, the dearest first; each of the lists adds up to `total`."""

    total: TotalUsage
    by_key: list[KeyUsage]
    by_model: list[ModelUsage]


class DayUsage(Struct, frozen=True):
    """What one key used of one model on one UTC day; `billed` in nano-USD."""

    day: date
    key_id: UUID
    name: str
    hint: str
    model_id: str
    requests: int
    tokens_in: int
    tokens_out: int
    billed: int


async def report_usage(
    account_id: UUID, first: date, last: date, *, key_id: UUID | None = None
) -> UsageReport:
    """What the account's keys, or one of them, used from the first UTC day to the last.

    The web app's usage, which has no key, is left out.
    """
    rows = await get_database().rows(
        "SELECT api_key_id, k.name, k.hint, model_id, requests, tokens_in, tokens_out, billed"
        " FROM (SELECT api_key_id, model_id, coalesce(sum(requests), 0)::bigint AS requests,"
        " coalesce(sum(tokens_in), 0)::bigint AS tokens_in,"
        " coalesce(sum(tokens_out), 0)::bigint AS tokens_out,"
        " coalesce(sum(billed), 0)::bigint AS billed FROM billing_usagedaily"
        " WHERE account_id = %s AND day BETWEEN %s AND %s AND api_key_id IS NOT NULL"
        " AND (%s::uuid IS NULL OR api_key_id = %s)"
        " GROUP BY GROUPING SETS ((), (api_key_id), (model_id))) used"
        " LEFT JOIN accounts_apikey k ON k.id = api_key_id"
        " ORDER BY billed DESC, requests DESC, api_key_id, model_id",
        (account_id, first, last, key_id, key_id),
    )
    total = TotalUsage(0, 0, 0, 0)
    by_key: list[KeyUsage] = []
    by_model: list[ModelUsage] = []
    for used_key, name, hint, model_id, requests, tokens_in, tokens_out, billed in rows:
        if used_key is not None:
            by_key.append(KeyUsage(used_key, name, hint, requests, billed))
        elif model_id is not None:
            by_model.append(ModelUsage(model_id, requests, billed))
        else:
            total = TotalUsage(requests, tokens_in, tokens_out, billed)
    return UsageReport(total, by_key, by_model)


async def list_usage(
    account_id: UUID, first: date, last: date, *, key_id: UUID | None = None, limit: int
) -> list[DayUsage]:
    """The rows behind the same report, day by day; at most the first `limit` of them."""
    rows = await get_database().rows(
        "SELECT day, api_key_id, k.name, k.hint, model_id, requests, tokens_in, tokens_out, billed"
        " FROM (SELECT * FROM billing_usagedaily"
        " WHERE account_id = %s AND day BETWEEN %s AND %s AND api_key_id IS NOT NULL"
        " AND (%s::uuid IS NULL OR api_key_id = %s)"
        " ORDER BY day, api_key_id, model_id LIMIT %s) used"
        " JOIN accounts_apikey k ON k.id = api_key_id ORDER BY day, api_key_id, model_id",
        (account_id, first, last, key_id, key_id, limit),
    )
    return [DayUsage(*row) for row in rows]
