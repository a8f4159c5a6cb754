"""Providers come from the environment; what is not configured is absent."""

import pytest

from ai.providers.config import PROVIDERS, from_environ

NONE: frozenset[str] = frozenset()
HOSTED = [name for name, known in PROVIDERS.items() if known.is_hosted]


def test_nothing_configured_is_nothing_callable() -> None:
    assert from_environ({}, simulated=NONE, simulator_url="") == {}


@pytest.mark.parametrize("name", HOSTED)
def test_a_key_makes_a_provider_callable(name: str) -> None:
    providers = from_environ({f"{name.upper()}_API_KEY": "k"}, simulated=NONE, simulator_url="")
    assert list(providers) == [name]
    assert providers[name].api_key == "k"
    assert providers[name].base_url.startswith("https://")


def test_a_base_url_can_be_replaced_and_loses_its_slash() -> None:
    environ = {"GROQ_API_KEY": "k", "GROQ_BASE_URL": "http://here:1/v1/"}
    assert from_environ(environ, simulated=NONE, simulator_url="")["groq"].base_url == (
        "http://here:1/v1"
    )


def test_an_empty_key_is_no_key() -> None:
    assert from_environ({"OPENAI_API_KEY": " "}, simulated=NONE, simulator_url="") == {}


def test_a_provider_without_a_key_is_simulated_if_it_is_named() -> None:
    providers = from_environ({}, simulated=frozenset({"xai"}), simulator_url="http://sim:1/")
    assert list(providers) == ["xai"]
    assert providers["xai"].base_url == "http://sim:1/xai/v1"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("anthropic", "/anthropic"),
        ("google", "/google/v1beta"),
        ("bfl", "/bfl/v1"),
        ("deepgram", "/deepgram/v1"),
        ("vertex", "/vertex/v1"),
        ("runway", "/runway/v1"),
        ("luma", "/luma/dream-machine/v1"),
        ("meshy", "/meshy/openapi"),
        ("tripo", "/tripo/v2/openapi"),
    ],
)
def test_each_wire_is_simulated_below_the_path_it_expects(name: str, path: str) -> None:
    providers = from_environ({}, simulated=frozenset({name}), simulator_url="http://sim:1")
    assert providers[name].base_url == f"http://sim:1{path}"


@pytest.mark.parametrize("name", sorted(PROVIDERS.keys() - HOSTED))
def test_a_server_of_one_s_own_is_configured_by_its_address(name: str) -> None:
    key = {f"{name.upper()}_API_KEY": "k"}
    assert from_environ(key, simulated=NONE, simulator_url="") == {}
    address = {f"{name.upper()}_BASE_URL": "http://here:1/v1"}
    config = from_environ(address, simulated=NONE, simulator_url="")[name]
    assert (config.base_url, config.api_key) == ("http://here:1/v1", "")
    assert from_environ(address | key, simulated=NONE, simulator_url="")[name].api_key == "k"


def test_the_folder_of_results_can_be_chosen() -> None:
    environ = {"VERTEX_API_KEY": "k", "VERTEX_STORAGE_URI": "gs://ours/clips/"}
    config = from_environ(environ, simulated=NONE, simulator_url="")["vertex"]
    assert config.storage_uri == "gs://ours/clips"
    assert config.storage_url == "https://storage.googleapis.com"


def test_results_that_are_simulated_are_read_at_the_simulator() -> None:
    providers = from_environ({}, simulated=frozenset({"vertex", "xai"}), simulator_url="http://s:1")
    assert providers["vertex"].storage_url == "http://s:1/vertex/_files"
    assert providers["xai"].storage_url == ""


def test_a_key_wins_over_the_simulator() -> None:
    providers = from_environ(
        {"XAI_API_KEY": "k"}, simulated=frozenset({"xai"}), simulator_url="http://sim:1"
    )
    assert providers["xai"].base_url == "https://api.x.ai/v1"


def test_no_simulator_is_no_simulated_provider() -> None:
    assert from_environ({}, simulated=frozenset({"xai"}), simulator_url="") == {}


def test_the_local_recogniser_needs_no_key_and_speaks_no_chat() -> None:
    environ = {"LOCAL_SPEECH_URL": "http://127.0.0.1:1/v1/"}
    [config] = from_environ(environ, simulated=NONE, simulator_url="").values()
    assert (config.name, config.base_url) == ("local_speech", "http://127.0.0.1:1/v1")
    assert (config.api_key, config.wire) == ("", None)


def test_the_local_model_needs_no_key() -> None:
    providers = from_environ(
        {"LOCAL_MODEL_URL": "http://127.0.0.1:1/v1"}, simulated=NONE, simulator_url=""
    )
    assert providers["local"].api_key == ""
    assert providers["local"].flags.always_stream


def test_a_key_is_never_shown() -> None:
    providers = from_environ({"OPENAI_API_KEY": "hidden"}, simulated=NONE, simulator_url="")
    assert "hidden" not in repr(providers)
