"""The features of a plan."""

from typing import Any

from accounts.models import User
from billing.errors import FeatureRequired, PlanRequired
from billing.models import Plan, Subscription
from billing.selectors.billing_snapshot import get_funds


def require_feature(user: User, feature: str) -> None:
    """Check that the user's plan has the feature.

    Raises PlanRequired where every paid plan has it, else FeatureRequired, which names the smallest
    plan that has it.
    """
    mine = Subscription.objects.select_related("plan").get(account=user)
    if mine.plan.features.get(feature):
        return
    payer: dict[str, Any] = {"plan": mine.plan_id, "funds": get_funds(user)}
    plans = list(Plan.objects.all())
    if all(plan.features.get(feature) for plan in plans if plan.price != 0):
        raise PlanRequired(feature=feature, **payer)
    smallest = next((plan.key for plan in plans if plan.features.get(feature)), None)
    raise FeatureRequired(feature=feature, required_plan=smallest, **payer)
