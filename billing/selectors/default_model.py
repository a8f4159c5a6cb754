"""The rule for the chat model of a request that names none."""

from collections.abc import Callable, Iterable

from django.conf import settings

from accounts.selectors.preferences import Agent
from ai.catalog.selectors import get_catalog
from billing.selectors.entitlements import ModelEntitlement


def default_chat_model(
    enabled: list[Agent], entitlements: Callable[[], Iterable[ModelEntitlement]]
) -> str | None:
    """The user's first favourite, else the platform's choice, else the first that can be called;
    never a model that the user has disabled, and None where there is no other. `enabled` is in the
    order of `list_agents`; `entitlements` is called only where it decides."""
    names = [agent.model for agent in enabled]
    if not names:
        return None
    if enabled[0].favourite:
        return names[0]
    default = get_catalog().find(settings.DEFAULT_CHAT_MODEL)
    if default is not None and default.id in names:
        return default.id
    can_be_called = {each.model for each in entitlements() if each.callable}
    return next(filter(can_be_called.__contains__, names), names[0])
