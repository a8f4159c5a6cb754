"""The holders of API keys, what they may call, and what each key has spent."""

from collections.abc import Iterable
from uuid import UUID

from msgspec import Struct

from accounts.features import KeyFeature
from accounts.models import User
from billing.models import KeyMonth, Subscription
from billing.selectors.subscriptions import current_month
from common.batching import Batcher
from common.database import get_database
from common.loop_local import LoopLocal


def spent_this_month(key_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Nano-USD billed through each key in this UTC month; keys without any are left out."""
    rows = KeyMonth.objects.filter(api_key_id__in=list(key_ids), month=current_month())
    return dict(rows.values_list("api_key_id", "billed"))


def has_api_access(user: User) -> bool:
    """Does the user's plan include `/v1`?"""
    return Subscription.objects.filter(account=user, plan__api_access=True).exists()


class KeyHolder(Struct, frozen=True):
    """An API key that is not revoked, and the account behind it, as of now. `digest` is the form in
    which the key is stored."""

    key_id: UUID
    digest: bytes
    account_id: UUID
    allowed_models: frozenset[str]
    features: frozenset[KeyFeature]
    active: bool
    plan: str
    api_access: bool

    def may_call(self, model_id: str) -> bool:
        """Is the model on the key's list? An empty list allows every model."""
        return not self.allowed_models or model_id in self.allowed_models


async def find_key_holder(digests: tuple[bytes, ...]) -> KeyHolder | None:
    """The holder of the key with one of these digests; None where it is unknown or revoked."""
    return await _lookups.get().run(digests)


async def _find(keys: list[tuple[bytes, ...]]) -> list[KeyHolder | None]:
    rows = await _lanes.get().rows(
        "SELECT k.digest, k.id, k.account_id, k.allowed_models, k.features, u.status, s.plan_id,"
        " p.api_access"
        " FROM accounts_apikey k"
        " JOIN accounts_user u ON u.id = k.account_id"
        " JOIN billing_subscription s ON s.account_id = u.id"
        " JOIN billing_plan p ON p.key = s.plan_id"
        " WHERE k.revoked_at IS NULL"
        " AND k.digest IN (SELECT decode(d, 'hex') FROM unnest(string_to_array(%s, ',')) d)",
        # One string: psycopg needs longer to write an array than PostgreSQL to look it up.
        (",".join(digest.hex() for digests in keys for digest in digests),),
    )
    holders = {
        digest: KeyHolder(
            key_id=key_id,
            digest=digest,
            account_id=account,
            allowed_models=frozenset(models),
            features=frozenset(features),
            active=status == User.Status.ACTIVE,
            plan=plan,
            api_access=api_access,
        )
        for digest, key_id, account, models, features, status, plan, api_access in rows
    }
    return [next(filter(None, map(holders.get, digests)), None) for digests in keys]


_lanes = LoopLocal(lambda: get_database().lane())
# Concurrent lookups share a round trip.
_lookups = LoopLocal(lambda: Batcher(_find, name="keys"))
