"""The list of providers, and which of them the environment configures. Without Django."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from ai.providers.types import ReasoningEffort, ToolChoice

SIMULATED_KEY = "simulated"

Wire = Literal["openai_compatible", "anthropic", "gemini"]

EffortMap = Mapping[ReasoningEffort, str]

SAME_WORD: EffortMap = MappingProxyType({"low": "low", "medium": "medium", "high": "high"})
ALWAYS_HIGH: EffortMap = MappingProxyType({"low": "high", "medium": "high", "high": "high"})
LOW_OR_HIGH: EffortMap = MappingProxyType({"low": "low", "medium": "high", "high": "high"})
NO_EFFORT: EffortMap = MappingProxyType({})

ANY_CHOICE: frozenset[ToolChoice] = frozenset({"auto", "none", "required", "named"})
ANY_PICTURE = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})

# How reasoning comes back with the tool calls that followed it: in which field of the turn.
ReasoningField = Literal["reasoning_content", "reasoning", "reasoning_details"]


@dataclass(frozen=True, slots=True)
class Flags:
    """A provider's departures from the OpenAI wire in its requests and counts.

    Its different answers (content arrays, the place of usage) need no flag: the wire reads every
    known form. `effort_form` is the field for the reasoning effort: a word, an object with that
    word, or a number of tokens. `shows_reasoning` is that of `ChatWire`.

    Of tools: `tool_choices` are those that can be asked for, `required_word` is the provider's word
    for one of them, and without `forces_while_reasoning` a model that reasons decides for itself.
    `parallel_calls` is what happens without the field `parallel_tool_calls`, or `fixed` where there
    is no such field. `strict_tools`: arguments can be made to match their schema. `short_call_ids`:
    ids have nine letters and digits. `reasoning_back` is the field of a turn with calls in which
    the reasoning comes back, `needs_reasoning_back` where the provider refuses a turn without it.

    Of answers and pictures: `enforces_schemas` where an answer can be made to match a schema; the
    others take JSON objects alone, and are told the schema. `takes_tools_with_output`: a call may
    have both. `results_have_pictures`: a tool's result may have some. `requires_parameters`: the
    provider passes the call on, and only to those who take all of its parameters, where it is told
    to.
    """

    max_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_stream_options: bool = True
    effort_map: EffortMap = field(default_factory=lambda: NO_EFFORT)
    effort_form: Literal["reasoning_effort", "reasoning", "thinking_budget"] = "reasoning_effort"
    reasoning_added_to_completion: bool = False
    shows_reasoning: bool = True
    always_stream: bool = False
    default_system_message: str | None = None
    temperature: float | None = None
    tool_choices: frozenset[ToolChoice] = ANY_CHOICE
    required_word: Literal["required", "any"] = "required"
    forces_while_reasoning: bool = True
    parallel_calls: Literal["on", "off", "fixed"] = "on"
    strict_tools: bool = False
    short_call_ids: bool = False
    reasoning_back: ReasoningField | None = None
    needs_reasoning_back: bool = False
    enforces_schemas: bool = True
    takes_tools_with_output: bool = True
    picture_types: frozenset[str] = ANY_PICTURE
    results_have_pictures: bool = False
    requires_parameters: bool = False


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """One provider as configured. `base_url` has no trailing slash; `api_key` may be empty.

    `api_keys` are all keys in the order of their use; the first is `api_key`.
    `wire` is its chat interface, or None. Of one that puts results into a bucket of ours,
    `storage_uri` is the folder there, empty for its default, and `storage_url` the store's address.
    """

    name: str
    wire: Wire | None
    base_url: str
    api_key: str = field(repr=False)
    flags: Flags = Flags()
    storage_uri: str = ""
    storage_url: str = ""
    other_keys: tuple[str, ...] = field(default=(), repr=False)

    @property
    def api_keys(self) -> tuple[str, ...]:
        return (self.api_key, *self.other_keys)

    def with_each_key(self) -> "list[ProviderConfig]":
        """One configuration for each key, with this key alone."""
        return [replace(self, api_key=key, other_keys=()) for key in self.api_keys]


@dataclass(frozen=True, slots=True)
class Provider:
    """The fixed properties of a provider.

    A provider without a `base_url` is a server of the operator's own: it is configured by its
    address, and its key is optional. `simulated_path` follows the provider's name at the simulator.
    `simulated_by_default`: the simulator answers for it where SIMULATED_PROVIDERS is not set.
    `storage_url` is the address of the store, if it puts results into a bucket of ours.
    """

    base_url: str
    flags: Flags = Flags()
    wire: Wire | None = "openai_compatible"
    simulated_path: str = "/v1"
    simulated_by_default: bool = True
    storage_url: str = ""

    @property
    def is_hosted(self) -> bool:
        return bool(self.base_url)


# The one list of providers. What else a provider needs is checked by tests, which name the file.
PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        "https://api.openai.com/v1",
        Flags(
            max_field="max_completion_tokens",
            effort_map=SAME_WORD,
            shows_reasoning=False,
            strict_tools=True,
        ),
    ),
    "anthropic": Provider("https://api.anthropic.com", wire="anthropic", simulated_path=""),
    "google": Provider(
        "https://generativelanguage.googleapis.com/v1beta", wire="gemini", simulated_path="/v1beta"
    ),
    "xai": Provider(
        "https://api.x.ai/v1",
        Flags(
            max_field="max_completion_tokens",
            effort_map=SAME_WORD,
            reasoning_added_to_completion=True,
            shows_reasoning=False,
            picture_types=frozenset({"image/png", "image/jpeg"}),
        ),
    ),
    # It reasons unless it is told not to, and has to be told where it must call a tool.
    "deepseek": Provider(
        "https://api.deepseek.com",
        Flags(
            effort_map=ALWAYS_HIGH,
            forces_while_reasoning=False,
            parallel_calls="fixed",
            reasoning_back="reasoning_content",
            needs_reasoning_back=True,
            enforces_schemas=False,
        ),
    ),
    "mistral": Provider(
        "https://api.mistral.ai/v1",
        Flags(
            effort_map=ALWAYS_HIGH,
            send_stream_options=False,
            required_word="any",
            strict_tools=True,
            short_call_ids=True,
            results_have_pictures=True,
        ),
        # It shows the answer of a provider without a key: 503.
        simulated_by_default=False,
    ),
    "moonshot": Provider(
        "https://api.moonshot.ai/v1",
        Flags(
            effort_map=LOW_OR_HIGH,
            tool_choices=ANY_CHOICE - {"named"},
            parallel_calls="fixed",
            reasoning_back="reasoning_content",
            needs_reasoning_back=True,
        ),
    ),
    "groq": Provider(
        "https://api.groq.com/openai/v1",
        Flags(
            max_field="max_completion_tokens",
            effort_map=SAME_WORD,
            reasoning_back="reasoning",
            takes_tools_with_output=False,
        ),
    ),
    # Some of Qwen's models reason only in streams. Without an effort none of them reasons.
    "qwen": Provider(
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        Flags(
            effort_form="thinking_budget",
            always_stream=True,
            tool_choices=ANY_CHOICE - {"required"},
            forces_while_reasoning=False,
            parallel_calls="off",
            enforces_schemas=False,
        ),
    ),
    "zai": Provider(
        "https://api.z.ai/api/paas/v4",
        Flags(
            effort_map=ALWAYS_HIGH,
            tool_choices=frozenset({"auto"}),
            parallel_calls="fixed",
            reasoning_back="reasoning_content",
            enforces_schemas=False,
        ),
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1",
        Flags(
            effort_map=SAME_WORD,
            effort_form="reasoning",
            shows_reasoning=False,
            strict_tools=True,
            reasoning_back="reasoning_details",
            requires_parameters=True,
        ),
    ),
    "together": Provider("https://api.together.xyz/v1", Flags(parallel_calls="fixed")),
    "bfl": Provider("https://api.bfl.ai/v1", wire=None),
    "deepgram": Provider("https://api.deepgram.com/v1", wire=None),
    "vertex": Provider(
        "https://us-central1-aiplatform.googleapis.com/v1",
        wire=None,
        storage_url="https://storage.googleapis.com",
    ),
    "runway": Provider("https://api.dev.runwayml.com/v1", wire=None),
    "luma": Provider(
        "https://api.lumalabs.ai/dream-machine/v1",
        wire=None,
        simulated_path="/dream-machine/v1",
    ),
    "meshy": Provider("https://api.meshy.ai/openapi", wire=None, simulated_path="/openapi"),
    "tripo": Provider("https://api.tripo3d.ai/v2/openapi", wire=None, simulated_path="/v2/openapi"),
    "ollama": Provider(
        "",
        Flags(
            effort_map=SAME_WORD,
            tool_choices=frozenset({"auto"}),
            parallel_calls="fixed",
            reasoning_back="reasoning",
        ),
    ),
    "vllm": Provider("", Flags(effort_map=SAME_WORD)),
}

SIMULATED_BY_DEFAULT = frozenset(
    name for name, known in PROVIDERS.items() if known.is_hosted and known.simulated_by_default
)

# A llama.cpp server continues a plain answer after its client has gone, so it is always streamed.
# Without a system message a small model invents a persona of its own.
_LOCAL = Flags(
    always_stream=True,
    default_system_message="You are a helpful assistant.",
    temperature=0.0,
    tool_choices=ANY_CHOICE - {"named"},
    parallel_calls="off",
)


def from_environ(
    environ: Mapping[str, str], *, simulated: frozenset[str], simulator_url: str
) -> dict[str, ProviderConfig]:
    """The providers that `environ` configures, by name; one that is absent cannot be called.

    Reads `<NAME>_API_KEY` (one key, or several with commas between them) and `<NAME>_BASE_URL` of
    each provider, `<NAME>_STORAGE_URI` of those that put results into a bucket of ours,
    `LOCAL_MODEL_URL` and `LOCAL_SPEECH_URL`.
    A provider in `simulated` that is not configured is called at the simulator.
    """
    providers: dict[str, ProviderConfig] = {}
    for name, known in PROVIDERS.items():
        if config := _configured(environ, name, known):
            providers[name] = config
        elif simulator_url and name in simulated:
            providers[name] = _simulated(name, known, f"{simulator_url.rstrip('/')}/{name}")
    if local_url := environ.get("LOCAL_MODEL_URL", "").strip():
        providers["local"] = ProviderConfig(
            "local", "openai_compatible", local_url.rstrip("/"), "", _LOCAL
        )
    if speech_url := environ.get("LOCAL_SPEECH_URL", "").strip():
        providers["local_speech"] = ProviderConfig("local_speech", None, speech_url.rstrip("/"), "")
    return providers


def _configured(environ: Mapping[str, str], name: str, known: Provider) -> ProviderConfig | None:
    def read(what: str) -> str:
        return environ.get(f"{name.upper()}_{what}", "").strip()

    api_key, *other_keys = _keys(read("API_KEY")) or ("",)
    base_url = read("BASE_URL")
    storage_uri = read("STORAGE_URI") if known.storage_url else ""
    if not (api_key if known.is_hosted else base_url):
        return None
    return ProviderConfig(
        name,
        known.wire,
        (base_url or known.base_url).rstrip("/"),
        api_key,
        known.flags,
        storage_uri.rstrip("/"),
        known.storage_url,
        tuple(other_keys),
    )


def _keys(text: str) -> list[str]:
    """The keys in a setting, each once. The key file of a service account is JSON, with commas of
    its own."""
    if text.startswith("{"):
        return [text]
    return list(dict.fromkeys(key for each in text.split(",") if (key := each.strip())))


def _simulated(name: str, known: Provider, url: str) -> ProviderConfig:
    base_url = f"{url}{known.simulated_path}"
    storage_url = f"{url}/_files" if known.storage_url else ""
    return ProviderConfig(
        name, known.wire, base_url, SIMULATED_KEY, known.flags, storage_url=storage_url
    )
