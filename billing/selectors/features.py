"""The features of a plan."""

from collections.abc import Iterable
from typing import Any

from accounts.models import User
from billing.errors import FeatureRequired, PaymentRequired, PlanRequired
from billing.models import Plan, Subscription
from billing.selectors.billing_snapshot import get_funds
from billing.types import Funds


def require_feature(user: User, feature: str) -> None:
    """Check that the user's plan has the feature.

    Raises PlanRequired where every paid plan has it, else FeatureRequired, which names the smallest
    plan that has it.
    """
    mine = Subscription.objects.select_related("plan").get(account=user)
    if not mine.plan.features.get(feature):
        raise refusals_without([feature], mine.plan_id, get_funds(user))[feature]


def refusals_without(
    features: Iterable[str], plan: str, funds: Funds
) -> dict[str, PaymentRequired]:
    """The errors for features that this plan does not have, by feature; `funds` are those of the
    account. One query, and none without features."""
    payer: dict[str, Any] = {"plan": plan, "funds": funds}
    named = set(features)
    plans = list(Plan.objects.all()) if named else []
    return {feature: _refusal_without(feature, plans, payer) for feature in named}


def _refusal_without(feature: str, plans: list[Plan], payer: dict[str, Any]) -> PaymentRequired:
    if all(plan.features.get(feature) for plan in plans if plan.price != 0):
        return PlanRequired(feature=feature, **payer)
    smallest = next((plan.key for plan in plans if plan.features.get(feature)), None)
    return FeatureRequired(feature=feature, required_plan=smallest, **payer)
