"""Reading how users want their models."""

from django.db.models import QuerySet
from msgspec import Struct

from accounts.models import ModelPreference, User
from catalog.selectors import get_catalog
from catalog.types import Model


class Agent(Struct, frozen=True, kw_only=True):
    """A chat model as its user wants it."""

    model: str
    display_name: str
    enabled: bool
    favourite: bool
    instructions: str
    reasoning_effort: str


def list_agents(user: User) -> list[Agent]:
    """All chat models there are: favourites first, else in the catalog's order."""
    kept = {preference.model: preference for preference in _preferences(user)}
    agents = [agent_of(model, kept.get(model.id) or _default(model.id)) for model in _chat_models()]
    return sorted(agents, key=lambda agent: not agent.favourite)


def agent_of(model: Model, preference: ModelPreference) -> Agent:
    """The model with what its user has said of it."""
    return Agent(
        model=model.id,
        display_name=model.display_name,
        enabled=preference.enabled,
        favourite=preference.favourite,
        instructions=preference.instructions,
        reasoning_effort=preference.reasoning_effort,
    )


def get_preference(user: User, model: str) -> ModelPreference:
    """How the user wants that model, a key of the catalog; where they said nothing, a row that is
    not saved."""
    return _preferences(user).filter(model=model).first() or _default(model)


def first_favourite(user: User) -> str | None:
    """The first model among the user's favourites that is enabled, as `list_agents` has them."""
    favourites = _preferences(user).filter(enabled=True, favourite=True)
    wanted = set(favourites.values_list("model", flat=True))
    return next((model.id for model in _chat_models() if model.id in wanted), None)


def _preferences(user: User) -> QuerySet[ModelPreference]:
    return ModelPreference.objects.filter(account=user)


def _chat_models() -> list[Model]:
    return [model for model in get_catalog().models.values() if model.modality == "chat"]


def _default(model: str) -> ModelPreference:
    return ModelPreference(model=model)
