"""Everything that a web app has to know about a user's rights before it offers a model."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Modality, Model
from ai.provider_health.services import refusal_of
from billing.selectors import free_budget
from billing.selectors.billing_snapshot import (
    BillingSnapshot,
    ModelAllowance,
    OpenWindow,
    get_billing_snapshot,
    get_free_windows,
)
from billing.selectors.subscriptions import end_of
from billing.types import FREE_MESSAGES, FREE_PLAN, FREE_WINDOW_HOURS, Funds

# The modalities of the web app.
_MODALITIES: frozenset[Modality] = frozenset({"chat", "image", "speech", "video", "3d"})
# The feature of a plan without which models of that modality cannot be called.
_FEATURES: Mapping[Modality, str] = {"video": "videos", "3d": "assets_3d"}


class FreeMessages(Struct, frozen=True):
    """The free plan's messages of one model: `limit` of them in `window_hours`. `reset_at` is None
    while none is used."""

    used: int
    reset_at: datetime | None
    limit: int = FREE_MESSAGES
    window_hours: int = FREE_WINDOW_HOURS


class ModelEntitlement(Struct, frozen=True):
    """What a user may use of one model. `callable`: would a call be admitted now?"""

    model: str
    display_name: str
    modality: Modality
    allowance: ModelAllowance
    resets_at: datetime | None
    free: FreeMessages | None
    callable: bool

    @property
    def included_in_plan(self) -> bool:
        return self.allowance.granted > 0


class Entitlements(Struct, frozen=True):
    """A user's plan, balance and features, and the models on offer in the web app. `verify_email`:
    free messages are refused until the address is verified."""

    plan: str
    funds: Funds
    features: dict[str, bool]
    verify_email: bool
    models: list[ModelEntitlement]


def get_entitlements(user: User) -> Entitlements:
    """What the user may use now. At most two queries; for unverified users on the free plan, also
    those of `must_verify`."""
    snapshot = get_billing_snapshot(user)
    is_free = snapshot.plan == FREE_PLAN
    windows = get_free_windows(user) if is_free else {}
    verify_email = is_free and free_budget.must_verify(user)
    allowances = {allowance.model: allowance for allowance in snapshot.allowances}
    models = [
        _entitlement(
            model,
            snapshot,
            allowances.get(model.id) or ModelAllowance(model.id),
            windows.get(model.id),
            is_free_refused=verify_email,
        )
        for model in get_catalog().models.values()
        if model.modality in _MODALITIES
    ]
    return Entitlements(snapshot.plan, snapshot.funds, snapshot.features, verify_email, models)


def _entitlement(
    model: Model,
    snapshot: BillingSnapshot,
    allowance: ModelAllowance,
    window: OpenWindow | None,
    *,
    is_free_refused: bool,
) -> ModelEntitlement:
    by_message = snapshot.plan == FREE_PLAN and model.modality == "chat"
    free = _free_messages(window) if by_message and model.free else None
    if by_message:
        # Only the window pays for these models, whatever the balance is.
        is_funded = free is not None and free.used < free.limit and not is_free_refused
    else:
        is_funded = allowance.remaining > 0 or snapshot.funds.available > 0
    feature = _FEATURES.get(model.modality)
    has_feature = feature is None or snapshot.features.get(feature, False)
    return ModelEntitlement(
        model=model.id,
        display_name=model.display_name,
        modality=model.modality,
        allowance=allowance,
        resets_at=end_of(snapshot.month) if allowance.granted else None,
        free=free,
        callable=is_funded and has_feature and refusal_of(model) is None,
    )


def _free_messages(window: OpenWindow | None) -> FreeMessages:
    return FreeMessages(window.used, window.reset_at) if window else FreeMessages(0, None)
