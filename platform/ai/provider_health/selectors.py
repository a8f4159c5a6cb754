"""The health of providers as it is: of this process's memory for metrics, and of all processes for
operators."""

from datetime import UTC, datetime

from msgspec import Struct
from redis.exceptions import RedisError

from ai.catalog.selectors import get_catalog
from ai.provider_health.circuit import Circuit, State
from ai.provider_health.name import Name
from ai.provider_health.services import get_health, get_started
from ai.provider_health.statistics import MINUTE, Statistics
from ai.provider_health.status_cache import FailureNote, Switches
from ai.provider_health.store import News, Store
from ai.providers.keys import KeyId, Rest, key_rests
from ai.providers.registry import get_keys

# The periods that operators see, in minutes up to now.
PERIODS = (1, 5, 15)


class KeyView(Struct, frozen=True):
    """A key of ours, by its place in the setting; `rest` is None where it does not rest."""

    key: KeyId
    rest: Rest | None


class ModelView(Struct, frozen=True):
    """A model at its provider: its circuit, and its calls in each of PERIODS. `cause` is why the
    circuit has opened, `since_probe` the seconds since the last probe began, None where there was
    none."""

    model: str
    state: State
    wait: float
    cause: str
    since_probe: float | None
    periods: tuple[Statistics, ...]


class ProviderView(Struct, frozen=True):
    """A provider as all processes know it together."""

    keys: list[KeyView]
    models: list[ModelView]
    failures: list[FailureNote]


# --- Of this process ------------------------------------------------------------------------------


# Metrics are read from these three: they take no I/O.
def circuit_states() -> dict[Name, State]:
    """The state of each circuit that a call has used."""
    status = get_health().status
    now = status.now()
    return {name: circuit.state(now) for name, circuit in status.circuits().items()}


def resting_keys(provider: str) -> list[KeyView]:
    """The keys of a provider that rest."""
    views = [KeyView(key, key_rests.rest_of(key)) for key in get_keys(provider)]
    return [view for view in views if view.rest is not None]


def switched_off() -> Switches:
    """What operators have switched off."""
    return get_health().status.switches


def open_models(provider: str) -> list[str] | None:
    """The models of a provider whose circuits are not closed; None where Redis is away."""
    if get_started().status.is_stale:
        return None
    states = circuit_states().items()
    return sorted(name.model for name, state in states if state != "closed" and name[0] == provider)


# --- Of all processes -----------------------------------------------------------------------------


def view_of(provider: str) -> ProviderView | None:
    """All that is known of a provider; None where Redis is away."""
    store = Store()
    try:
        news = store.read()
        models = [_model_view(store, news, name) for name in _names_of(provider)]
        failures = store.read_failures(provider)
    except (RedisError, OSError):
        return None
    keys = [KeyView(key, _rest_of(key, news)) for key in get_keys(provider)]
    return ProviderView(keys, models, failures)


def time_of(note: FailureNote) -> datetime:
    """When it was."""
    return datetime.fromtimestamp(note.at, UTC)


def _model_view(store: Store, news: News, name: Name) -> ModelView:
    circuit = news.circuits.get(name, Circuit())
    minute = int(news.now / MINUTE)
    periods = (
        store.read_statistics([name], range(minute - length + 1, minute + 1)) for length in PERIODS
    )
    return ModelView(
        name.model,
        circuit.state(news.now),
        circuit.wait(news.now),
        circuit.cause,
        news.now - circuit.probed_at if circuit.probed_at else None,
        tuple(periods),
    )


def _names_of(provider: str) -> list[Name]:
    models = get_catalog().models.values()
    return [Name(provider, model.id) for model in models if model.provider == provider]


def _rest_of(key: KeyId, news: News) -> Rest | None:
    rest = news.rests.get(key.name)
    return rest if rest and rest.until > news.now else None
