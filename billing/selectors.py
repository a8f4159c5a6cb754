"""What billing tells others. Money is read from the primary database only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID

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


@dataclass(frozen=True, slots=True)
class KeyHolder:
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
    return await _key_holders.get().run(digest)


async def _find_key_holders(digests: list[bytes]) -> list[KeyHolder | None]:
    rows = await get_database().rows(
        "SELECT k.digest, k.id, k.account_id, k.allowed_models, u.status, s.plan_id, p.api_access"
        " FROM accounts_apikey k"
        " JOIN accounts_user u ON u.id = k.account_id"
        " JOIN billing_subscription s ON s.account_id = u.id"
        " JOIN billing_plan p ON p.key = s.plan_id"
        " WHERE k.digest = ANY (%s) AND k.revoked_at IS NULL",
        (digests,),
    )
    holders = {
        digest: KeyHolder(
            key_id, account_id, frozenset(models), status == User.Status.ACTIVE, plan, api_access
        )
        for digest, key_id, account_id, models, status, plan, api_access in rows
    }
    return [holders.get(digest) for digest in digests]


_key_holders: PerLoop[Batcher[bytes, KeyHolder | None]] = PerLoop(
    lambda: Batcher(_find_key_holders)
)


async def models_in_plan(plan: str) -> frozenset[str]:
    """The models of which a plan grants an allowance."""
    rows = await get_database().rows(
        "SELECT model_id FROM billing_planallowance WHERE plan_id = %s AND granted > 0", (plan,)
    )
    return frozenset(row[0] for row in rows)
