"""Reads users' preferences for models."""

from django.db.models import QuerySet
from msgspec import Struct

from accounts.models import ModelPreference, User
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from common.errors import NotFound

# Of a model for which the user has no row.
_DEFAULTS = ModelPreference()


class Agent(Struct, frozen=True, kw_only=True):
    """A chat model with its user's preferences."""

    model: str
    display_name: str
    enabled: bool
    favourite: bool
    instructions: str
    reasoning_effort: str

    @property
    def has_instructions(self) -> bool:
        return bool(self.instructions)


def list_agents(user: User) -> list[Agent]:
    """All chat models: favourites first, else in the catalog's order."""
    kept = {preference.model: preference for preference in _preferences(user)}
    agents = [_agent(model, kept.get(model.id, _DEFAULTS)) for model in _chat_models()]
    return sorted(agents, key=lambda agent: not agent.favourite)


def get_agent(user: User, name: str) -> Agent:
    """The chat model of that name or legacy alias, with the user's preferences. Raises NotFound."""
    model = get_catalog().find(name)
    if model is None or model.modality != "chat":
        raise NotFound
    return _agent(model, get_preference(user, model.id))


def get_preference(user: User, model: str) -> ModelPreference:
    """The user's preferences for that model, a key of the catalog; an unsaved row where there are
    none."""
    return _preferences(user).filter(model=model).first() or ModelPreference(model=model)


def list_enabled(user: User) -> list[Agent]:
    """The chat models that the user has not disabled, in the order of `list_agents`."""
    return [agent for agent in list_agents(user) if agent.enabled]


def _preferences(user: User) -> QuerySet[ModelPreference]:
    return ModelPreference.objects.filter(account=user)


def _chat_models() -> list[Model]:
    return [model for model in get_catalog().models.values() if model.modality == "chat"]


def _agent(model: Model, preference: ModelPreference) -> Agent:
    return Agent(
        model=model.id,
        display_name=model.display_name,
        enabled=preference.enabled,
        favourite=preference.favourite,
        instructions=preference.instructions,
        reasoning_effort=preference.reasoning_effort,
    )
