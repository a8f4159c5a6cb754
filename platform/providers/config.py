"""Which providers can be called, and how: read from the environment, without Django."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from providers.types import ReasoningEffort

SIMULATED_KEY = "simulated"

EffortMap = Mapping[ReasoningEffort, str]

SAME_WORD: EffortMap = MappingProxyType({"low": "low", "medium": "medium", "high": "high"})
ALWAYS_HIGH: EffortMap = MappingProxyType({"low": "high", "medium": "high", "high": "high"})
LOW_OR_HIGH: EffortMap = MappingProxyType({"low": "low", "medium": "high", "high": "high"})
NO_EFFORT: EffortMap = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Flags:
    """Where a provider departs from the OpenAI wire in what it takes or counts.

    What it sends back differently (content arrays, the place of usage) needs no flag: the wire
    reads every known form.
    """

    max_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_stream_options: bool = True
    effort_map: EffortMap = field(default_factory=lambda: NO_EFFORT)
    reasoning_added_to_completion: bool = False
    always_stream: bool = False
    default_system_message: str | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """One provider as configured. `base_url` has no trailing slash; `api_key` may be empty."""

    name: str
    wire: Literal["openai_compatible"]
    base_url: str
    api_key: str = field(repr=False)
    flags: Flags = Flags()


# Base URL and flags of each provider that needs a key.
_HOSTED: Mapping[str, tuple[str, Flags]] = {
    "openai": (
        "https://api.openai.com/v1",
        Flags(max_field="max_completion_tokens", effort_map=SAME_WORD),
    ),
    "xai": (
        "https://api.x.ai/v1",
        Flags(
            max_field="max_completion_tokens",
            effort_map=SAME_WORD,
            reasoning_added_to_completion=True,
        ),
    ),
    "deepseek": ("https://api.deepseek.com", Flags(effort_map=ALWAYS_HIGH)),
    "mistral": (
        "https://api.mistral.ai/v1",
        Flags(effort_map=ALWAYS_HIGH, send_stream_options=False),
    ),
    "moonshot": ("https://api.moonshot.ai/v1", Flags(effort_map=LOW_OR_HIGH)),
    "groq": (
        "https://api.groq.com/openai/v1",
        Flags(max_field="max_completion_tokens", effort_map=SAME_WORD),
    ),
}

# A llama.cpp server goes on computing a plain answer nobody waits for, so it is always streamed.
# Without a system message a small model falls into a persona of its own.
_LOCAL = Flags(
    always_stream=True,
    default_system_message="You are a helpful assistant.",
    temperature=0.0,
)


def from_environ(
    environ: Mapping[str, str], *, simulated: frozenset[str], simulator_url: str
) -> dict[str, ProviderConfig]:
    """The providers that `environ` configures, by name; one that is absent cannot be called.

    Reads `<NAME>_API_KEY` and `<NAME>_BASE_URL` of each hosted provider, and `LOCAL_MODEL_URL`.
    A provider in `simulated` that has no key is called at the simulator.
    """
    providers: dict[str, ProviderConfig] = {}
    for name, (default_url, flags) in _HOSTED.items():
        api_key = environ.get(f"{name.upper()}_API_KEY", "").strip()
        base_url = environ.get(f"{name.upper()}_BASE_URL", "").strip() or default_url
        if not api_key and simulator_url and name in simulated:
            api_key, base_url = SIMULATED_KEY, f"{simulator_url.rstrip('/')}/{name}/v1"
        if api_key:
            providers[name] = ProviderConfig(
                name, "openai_compatible", base_url.rstrip("/"), api_key, flags
            )
    if local_url := environ.get("LOCAL_MODEL_URL", "").strip():
        providers["local"] = ProviderConfig(
            "local", "openai_compatible", local_url.rstrip("/"), "", _LOCAL
        )
    return providers
