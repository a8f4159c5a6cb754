"""The history of a card."""

from msgspec import Struct

from accounts.models import User
from billing.selectors.charges import ChargeUsage, get_usage
from common.pagination import MAX_LIMIT
from council.models import Card, Version
from council.selectors.cards import current_of, text_of


class VersionState(Struct, frozen=True, kw_only=True):
    """A version with its call. `cost` is what was paid to write it, in nano-USD: restoring one
    costs nothing. `content` is None where no texts are requested."""

    version: Version
    usage: ChargeUsage | None
    cost: int
    is_current: bool
    content: str | None


def list_versions(
    user: User,
    card: Card,
    limit: int = MAX_LIMIT,
    *,
    before: int | None = None,
    with_text: bool = False,
) -> list[VersionState]:
    """The newest versions of the user's card, or those before a number; the newest first."""
    found = card.versions.select_related("generation").order_by("-number")
    if before is not None:
        found = found.filter(number__lt=before)
    if not with_text:
        found = found.defer("generation__content")
    versions = list(found[:limit])
    usage = get_usage(user, {version.generation_id for version in versions})
    return [
        _state(card, version, usage.get(version.generation_id), with_text) for version in versions
    ]


def _state(
    card: Card, version: Version, usage: ChargeUsage | None, with_text: bool
) -> VersionState:
    is_first_use = version.restored_from is None
    return VersionState(
        version=version,
        usage=usage,
        cost=usage.billed if usage and is_first_use else 0,
        is_current=version.pk == current_of(card).pk,
        content=text_of(version) if with_text else None,
    )
