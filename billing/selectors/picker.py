"""The models on offer as one list, for the web app's model picker."""

from collections.abc import Mapping
from typing import Any, get_args

from django.conf import settings
from msgspec import Struct

from accounts.models import User
from accounts.selectors.preferences import Agent, list_agents
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Modality, Model
from ai.providers.types import ReasoningEffort
from billing.selectors.default_model import default_chat_model
from billing.selectors.entitlements import (
    ModelEntitlement,
    context_in_plan,
    get_entitlements,
)
from billing.selectors.features import refusals_without
from billing.types import FREE_PLAN
from common.errors import DomainError

EFFORTS = get_args(ReasoningEffort)
TAKES = {
    "chat": ["text", "files"],
    "image": ["text"],
    "video": ["text"],
    "3d": ["text"],
    "speech": ["audio"],
}
_ORDER: tuple[Modality, ...] = ("chat", "image", "video", "3d", "speech")


class PickerModel(Struct, frozen=True, kw_only=True):
    """A model with the user's entitlement and preferences. `refusal`: the error of a call that
    would be made now, None where it would be admitted. `agent` is None where it is no chat model;
    `is_default`: requests that name no model use it. `context_in_plan`: the tokens of its window
    that the user's plan gives in the web app."""

    model: Model
    aliases: list[str]
    entitlement: ModelEntitlement
    refusal: DomainError | None
    agent: Agent | None
    is_default: bool
    context_in_plan: int

    @property
    def takes(self) -> list[str]:
        """What the model reads, beside the fields of its `params`: files are sent as text, so they
        count as an input of text models."""
        pictures = ["pictures"] if self.model.params.takes_uploads else []
        return [*TAKES[self.model.modality], *pictures]

    @property
    def reasoning_efforts(self) -> list[str]:
        """Those that can be requested; none where the model does not reason."""
        return list(EFFORTS) if self.model.reasoning else []

    @property
    def params(self) -> Mapping[str, Any] | None:
        return self.model.params.schema or None

    @property
    def is_favourite(self) -> bool:
        return self.agent is not None and self.agent.favourite


def list_models(user: User) -> list[PickerModel]:
    """The models on offer in the web app: chat models, then those for pictures, videos, 3D assets
    and speech; of chat models the user's favourites first. One query more than the entitlements,
    and one for plans that lack a feature of a studio."""
    catalog = get_catalog()
    agents = {agent.model: agent for agent in list_agents(user)}
    entitlements = get_entitlements(user)
    entitled = entitlements.models
    lacking = {each.missing_feature for each in entitled if each.missing_feature is not None}
    without = refusals_without(lacking, entitlements.plan, entitlements.funds)
    enabled = [agent for agent in agents.values() if agent.enabled]
    defaults = {
        default_chat_model(enabled, lambda: entitled),
        _resolved(settings.DEFAULT_SPEECH_MODEL),
    }
    is_free = entitlements.plan == FREE_PLAN
    aliases: dict[str, list[str]] = {}
    for name, model_id in sorted(catalog.aliases.items()):
        aliases.setdefault(model_id, []).append(name)
    models = [
        PickerModel(
            model=catalog.models[each.model],
            aliases=aliases.get(each.model, []),
            entitlement=each,
            refusal=without.get(each.missing_feature or "", each.refusal),
            agent=agents.get(each.model),
            is_default=each.model in defaults,
            context_in_plan=context_in_plan(
                catalog.models[each.model], is_free=is_free and each.modality == "chat"
            ),
        )
        for each in entitled
        # The catalog may have been reloaded in between.
        if each.model in catalog.models
    ]
    return sorted(models, key=_place)


def _place(model: PickerModel) -> tuple[int, bool]:
    return _ORDER.index(model.entitlement.modality), not model.is_favourite


def _resolved(name: str) -> str:
    model = get_catalog().find(name)
    return name if model is None else model.id
