"""The catalog for other apps: one immutable snapshot, held in memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ai.catalog.params import Params

Modality = Literal["chat", "image", "embedding", "speech", "video", "3d"]

PricedUnit = Literal["second", "asset"]
# What models are sold by that have rates by variant.
UNITS: Mapping[Modality, PricedUnit] = MappingProxyType({"video": "second", "3d": "asset"})

# The provider that runs on this machine: its models may cost nothing.
LOCAL_PROVIDER = "local"


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Micro-USD per 1,000,000 tokens, which is pico-USD per token. `fee` is the platform's.

    `cached_input` is the rate of input that the provider has read from its cache, never above
    `input`; None where the provider has no such rate.
    """

    version_id: int
    input: int
    output: int
    fee: int
    cached_input: int | None = None


@dataclass(frozen=True, slots=True)
class ImagePrice:
    """Nano-USD per image, by quality (`low`, `standard`, `high`). `fee` is the platform's."""

    version_id: int
    per_image: Mapping[str, int]
    fee: int


@dataclass(frozen=True, slots=True)
class SpeechPrice:
    """Nano-USD per hour of audio, which makes the providers' list prices whole. `fee` is the
    platform's."""

    version_id: int
    per_hour: int
    fee: int


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """Nano-USD per second of video or per 3D asset, by variant (see `Params.variant`). `fee` is the
    platform's."""

    version_id: int
    unit: PricedUnit
    per_unit: Mapping[str, int]
    fee: int


Price = TokenPrice | ImagePrice | SpeechPrice | UnitPrice


# The modalities with endpoints of `/v1`.
PUBLIC_MODALITIES: frozenset[Modality] = frozenset({"chat", "image", "embedding"})


@dataclass(frozen=True, slots=True)
class Model:
    id: str
    display_name: str
    modality: Modality
    provider: str
    upstream_model: str
    owned_by: str
    vision: bool
    tools: bool
    streaming: bool
    reasoning: bool
    reasons_unasked: bool
    context_window: int
    max_output_tokens: int
    prompt_overhead_tokens: int
    minimum_seconds: int
    free: bool
    created: int
    params: Params
    price: Price

    @property
    def is_public(self) -> bool:
        """Is the model offered under `/v1`?"""
        return self.modality in PUBLIC_MODALITIES


@dataclass(frozen=True, slots=True)
class Catalog:
    """`models` in listing order by id; `aliases` maps a legacy id to a current one."""

    models: Mapping[str, Model]
    aliases: Mapping[str, str]
    retired: frozenset[str]

    @property
    def free_models(self) -> list[str]:
        """The ids of the models in the free plan."""
        return [model.id for model in self.models.values() if model.free]

    def find(self, name: str) -> Model | None:
        """The model of that id or legacy alias, or None where there is no such model."""
        return self.models.get(name) or self.models.get(self.aliases.get(name, ""))
