"""Switches providers, and models of providers, off and on by hand."""

from collections.abc import Callable

import structlog
from django.db import transaction
from django.db.models.functions import Now
from redis.exceptions import RedisError

from ai.provider_health.models import Provider
from ai.provider_health.store import Store
from ai.providers.config import PROVIDERS

log = structlog.get_logger(__name__)

# The servers of this machine are no providers of the list, and are called like others.
NAMES = (*PROVIDERS, "local", "local_speech")


def switch_provider(*, name: str, is_off: bool) -> bool:
    """Switch a whole provider. False where nothing has changed."""

    def change(provider: Provider) -> None:
        provider.is_off = is_off

    return _switch(name, change)


def switch_model(*, name: str, model: str, is_off: bool) -> bool:
    """Switch one model of a provider. False where nothing has changed."""

    def change(provider: Provider) -> None:
        others = set(provider.models_off) - {model}
        provider.models_off = sorted(others | {model} if is_off else others)

    return _switch(name, change)


def add_missing_providers() -> None:
    """A row for each provider."""
    Provider.objects.bulk_create([Provider(name=name) for name in NAMES], ignore_conflicts=True)


@transaction.atomic
def _switch(name: str, change: Callable[[Provider], None]) -> bool:
    provider = Provider.objects.select_for_update().get(name=name)
    before = (provider.is_off, list(provider.models_off))
    change(provider)
    if (provider.is_off, provider.models_off) == before:
        return False
    provider.changed_at = Now()
    provider.save(update_fields=["is_off", "models_off", "changed_at"])
    transaction.on_commit(_signal)
    return True


def _signal() -> None:
    """Where Redis is away, all processes see the change when they next read the database."""
    try:
        Store().signal_switches()
    except (RedisError, OSError) as error:
        log.warning("health.switch_not_signalled", error=type(error).__name__)
