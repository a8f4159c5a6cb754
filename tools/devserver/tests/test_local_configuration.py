"""Who stands in for Google's sign-in and for connectors under `make run`."""

from pathlib import Path

import pytest

from devserver import configuration
from simulator.identity import CLIENT_ID, ISSUER

SIGN_IN = ("GOOGLE_AUTHORIZE_URL", "GOOGLE_CLIENT_IDS", "GOOGLE_ISSUERS", "GOOGLE_JWKS_URL")


def google_settings(tmp_path: Path, **environ: str) -> dict[str, str]:
    """What the service's processes are told about Google's sign-in."""
    env = configuration.resolve(environ, tmp_path).env
    return {name: value for name, value in env.items() if name in SIGN_IN}


def test_the_simulator_stands_in_for_google(tmp_path: Path) -> None:
    settings = google_settings(tmp_path)
    assert settings["GOOGLE_CLIENT_IDS"] == CLIENT_ID
    assert settings["GOOGLE_ISSUERS"] == ISSUER
    simulator = configuration.resolve({}, tmp_path).simulator_url
    assert settings["GOOGLE_AUTHORIZE_URL"] == f"{simulator}/identity/authorize"
    assert settings["GOOGLE_JWKS_URL"] == f"{simulator}/identity/jwks"


@pytest.mark.parametrize(
    "environ",
    [{"GOOGLE_CLIENT_IDS": "mine"}, {"GOOGLE_CLIENT_IDS": ""}, {"SIMULATED_PROVIDERS": ""}],
)
def test_settings_of_google_in_the_environment_are_kept(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    assert google_settings(tmp_path, **environ) == {}


@pytest.mark.parametrize("name", configuration.CONNECTOR_CLIENTS)
def test_clients_in_the_environment_are_kept(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "mine")
    assert "GITHUB_URL" not in configuration.resolve({}, tmp_path).env
