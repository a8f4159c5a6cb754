"""Our clients at the providers, from the environment."""

from pathlib import Path

from devserver import configuration
from integrations.connectors.providers import from_environ
from integrations.connectors.types import Provider


def test_under_make_run_the_simulator_stands_in(tmp_path: Path) -> None:
    resolved = configuration.resolve({}, tmp_path)
    services = from_environ(resolved.env).values()
    assert all(service.is_configured for service in services)
    assert all(each.token_url.startswith(resolved.simulator_url) for each in services)


def test_a_client_without_a_secret_is_none() -> None:
    service = from_environ({"GITHUB_CLIENT_ID": "x"})[Provider.GITHUB]
    assert not service.is_configured


def test_a_server_of_one_s_own_has_all_addresses() -> None:
    environ = {"GITHUB_URL": "https://git.example/", "GITHUB_CLIENT_ID": "ours"}
    service = from_environ(environ)[Provider.GITHUB]
    assert service.base_url == "https://git.example"
    assert service.token_url == "https://git.example/login/oauth/access_token"
    assert service.revoke_url == "https://git.example/api/v3/applications/ours/grant"
    cloud = from_environ({})[Provider.GITHUB]
    assert cloud.revoke_url.startswith("https://api.github.com/applications/")


def test_no_secret_shows_in_a_service() -> None:
    service = from_environ({"GITLAB_CLIENT_SECRET": "a secret"})[Provider.GITLAB]
    assert "a secret" not in repr(service)
