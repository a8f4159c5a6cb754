"""Everything that a web app has to know about a user's rights before it offers a model."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Modality, Model
from ai.provider_health.services import refusal_of
from billing.errors import (
    EmailUnverified,
    FreeLimit,
    FreeModelLocked,
    InsufficientBalance,
    PaymentRequired,
)
from billing.selectors import free_budget
from billing.selectors.billing_snapshot import (
    BillingSnapshot,
    ModelAllowance,
    OpenWindow,
    get_billing_snapshot,
    get_free_windows,
)
from billing.selectors.subscriptions import end_of
from billing.types import (
    FREE_CONTEXT_TOKENS,
    FREE_MESSAGES,
    FREE_PLAN,
    FREE_WINDOW_HOURS,
    Funds,
)
from common.errors import DomainError
from common.times import iso_utc

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
    """What a user may use of one model. `callable`: would a call be admitted now? If not, the plan
    lacks the `missing_feature`, or `refusal` is the error of a call."""

    model: str
    display_name: str
    modality: Modality
    allowance: ModelAllowance
    resets_at: datetime | None
    free: FreeMessages | None
    missing_feature: str | None
    refusal: DomainError | None

    @property
    def callable(self) -> bool:
        return self.missing_feature is None and self.refusal is None

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


def context_in_plan(model: Model, *, is_free: bool) -> int:
    """The tokens of a chat model's window that a plan gives."""
    return min(model.context_window, FREE_CONTEXT_TOKENS) if is_free else model.context_window


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
            must_verify=verify_email,
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
    must_verify: bool,
) -> ModelEntitlement:
    # Only the window pays for these models, whatever the balance is.
    by_message = snapshot.plan == FREE_PLAN and model.modality == "chat"
    free = _free_messages(window) if by_message and model.free else None
    payer: dict[str, Any] = {"model_key": model.id, "plan": snapshot.plan, "funds": snapshot.funds}
    if unavailable := refusal_of(model):
        refusal: DomainError | None = unavailable.error
    elif by_message:
        refusal = _refusal_of_free(free, payer, must_verify=must_verify)
    else:
        refusal = _shortage(allowance, snapshot.funds, payer)
    feature = _FEATURES.get(model.modality)
    has_feature = feature is None or snapshot.features.get(feature, False)
    return ModelEntitlement(
        model=model.id,
        display_name=model.display_name,
        modality=model.modality,
        allowance=allowance,
        resets_at=end_of(snapshot.month) if allowance.granted else None,
        free=free,
        missing_feature=None if has_feature else feature,
        refusal=refusal,
    )


def _refusal_of_free(
    free: FreeMessages | None, payer: dict[str, Any], *, must_verify: bool
) -> PaymentRequired | None:
    if must_verify:
        return EmailUnverified(**payer)
    if free is None:
        return FreeModelLocked(**payer, free_models=get_catalog().free_models)
    if free.used < free.limit:
        return None
    reset_at = None if free.reset_at is None else iso_utc(free.reset_at)
    window: dict[str, Any] = {
        "limit": free.limit,
        "window_hours": free.window_hours,
        "used": free.used,
    }
    return FreeLimit(**payer, **window, reset_at=reset_at)


def _shortage(
    allowance: ModelAllowance, funds: Funds, payer: dict[str, Any]
) -> InsufficientBalance | None:
    if allowance.remaining > 0 or funds.available > 0:
        return None
    return InsufficientBalance(**payer, is_held=allowance.unspent > 0 or funds.balance > 0)


def _free_messages(window: OpenWindow | None) -> FreeMessages:
    return FreeMessages(window.used, window.reset_at) if window else FreeMessages(0, None)
