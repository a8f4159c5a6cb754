"""What this process knows of the health of providers: docs/operations/providers.md.

Under a server without lifespan, such as daphne, the process knows nothing until its first call.
"""

from collections.abc import Mapping

from django.conf import settings

from ai.provider_health.selectors import circuit_states, resting_keys, switched_off
from ai.provider_health.switches import NAMES
from observability.metrics.instruments import Labels, ReadGauge
from observability.metrics.labels import FirstSeen

PROVIDERS = frozenset(NAMES)
# A call names a model of the catalog; only operators add any.
MODELS = FirstSeen(500)


def _circuits() -> Mapping[Labels, float]:
    return {name: state == "open" for name, state in circuit_states().items()}


def _resting_keys() -> Mapping[Labels, float]:
    return {(provider,): len(resting_keys(provider)) for provider in settings.PROVIDERS}


def _switched_off() -> Mapping[Labels, float]:
    off = switched_off()
    return {**{(provider, ""): 1 for provider in off.providers}, **dict.fromkeys(off.models, 1)}


circuit_open = ReadGauge(
    "platform_circuit_open",
    "1 where calls of a model are refused until a probe is answered; 0 where they are let through.",
    _circuits,
    provider=PROVIDERS,
    model=MODELS,
)
keys_resting = ReadGauge(
    "platform_provider_keys_resting",
    "Keys of ours that are not used for a while because the provider has refused them.",
    _resting_keys,
    provider=PROVIDERS,
)
switched_off_ones = ReadGauge(
    "platform_provider_off",
    "1 for what operators have switched off; the model is empty where the whole provider is.",
    _switched_off,
    provider=PROVIDERS,
    model=MODELS,
)
