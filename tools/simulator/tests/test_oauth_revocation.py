"""The ends of grants: by the client, in each server's way, and by the person."""

import httpx
import pytest

from simulator.oauth.tokens import TokenStore
from simulator.process import RunningSimulator
from simulator.tests.oauth_client import SECRETS, Client

BASIC = (SECRETS["client_id"], SECRETS["client_secret"])


@pytest.fixture
def github(simulator: RunningSimulator) -> Client:
    return Client(simulator, "github")


@pytest.fixture
def gitlab(simulator: RunningSimulator) -> Client:
    return Client(simulator, "gitlab")


@pytest.fixture
def google(simulator: RunningSimulator) -> Client:
    return Client(simulator, "google")


def delete_grant(
    client: Client, body: object, auth: tuple[str, str] = BASIC, name: str = "simulator"
) -> httpx.Response:
    url = f"{client.base}/api/v3/applications/{name}/grant"
    return httpx.request("DELETE", url, json=body, auth=auth)


def can_refresh(client: Client, tokens: dict[str, str]) -> bool:
    return "access_token" in client.refresh(tokens["refresh_token"]).json()


def test_github_ends_all_tokens_of_the_person(github: Client) -> None:
    other, tokens = github.connect(), github.connect()
    stranger = Client(github.simulator, "github")
    others = stranger.connect()
    answer = delete_grant(github, {"access_token": tokens["access_token"]})
    assert (answer.status_code, answer.content) == (204, b"")
    assert not can_refresh(github, tokens)
    assert not can_refresh(github, other)
    assert can_refresh(stranger, others)


def test_github_wants_an_access_token_that_lives(github: Client) -> None:
    tokens = github.connect()
    github.simulator.oauth.expire(tokens["access_token"])
    for text in (tokens["access_token"], tokens["refresh_token"], "unknown"):
        assert delete_grant(github, {"access_token": text}).status_code == 404
    assert can_refresh(github, tokens)


def test_github_refuses_a_stranger_and_a_body_without_a_token(github: Client) -> None:
    body = {"access_token": github.connect()["access_token"]}
    answer = delete_grant(github, body, ("simulator", "wrong"))
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")
    assert delete_grant(github, body, name="another").status_code == 404
    assert delete_grant(github, {}).status_code == 422


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_gitlab_ends_one_pair_of_tokens_by_either(gitlab: Client, kind: str) -> None:
    other, tokens = gitlab.connect(), gitlab.connect()
    body = {**SECRETS, "token": tokens[kind]}
    answer = httpx.post(f"{gitlab.base}/oauth/revoke", data=body)
    assert (answer.status_code, answer.json()) == (200, {})
    assert not can_refresh(gitlab, tokens)
    assert can_refresh(gitlab, other)


def test_gitlab_does_not_mind_an_unknown_token_but_a_stranger(gitlab: Client) -> None:
    url = f"{gitlab.base}/oauth/revoke"
    assert httpx.post(url, data={"token": "unknown"}, auth=BASIC).status_code == 200
    answer = httpx.post(url, data={"token": gitlab.connect()["access_token"]})
    assert (answer.status_code, answer.json()["error"]) == (403, "unauthorized_client")


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_google_ends_the_grant_by_any_of_its_tokens(google: Client, kind: str) -> None:
    tokens = google.connect()
    google.refresh(tokens["refresh_token"])
    url = f"{google.base}/revoke"
    assert httpx.post(url, data={"token": tokens[kind]}).status_code == 200
    assert not can_refresh(google, tokens)
    again = httpx.post(url, params={"token": tokens[kind]})
    assert (again.status_code, again.json()["error"]) == (400, "invalid_token")
    assert "refresh_token" in google.connect(), "the next consent is a first one"


@pytest.mark.parametrize("host", ["github", "gitlab", "google"])
def test_a_person_can_revoke_a_grant_at_the_server(simulator: RunningSimulator, host: str) -> None:
    client, other = Client(simulator, host), Client(simulator, host)
    tokens, others = client.connect(), other.connect()
    assert simulator.oauth.revoke(host, client.login) == 1
    assert not can_refresh(client, tokens)
    assert can_refresh(other, others)
    assert simulator.oauth.revoke(host, client.login) == 0


def test_a_service_finds_out_whose_an_access_token_is() -> None:
    store = TokenStore()
    token = store.issue("gitlab", "alice", ("api",))
    assert store.find("gitlab", token.text) is token
    assert (token.login, token.scopes) == ("alice", ("api",))
    assert store.find("github", token.text) is None
    assert store.find("gitlab", token.refresh_token or "") is None


def test_a_service_finds_no_token_that_has_ended() -> None:
    store = TokenStore()
    expired, revoked, rotated = (store.issue("github", "alice", ()) for _ in range(3))
    store.expire(expired.text)
    store.revoke(revoked)
    renewed = store.refresh("github", rotated.refresh_token or "")
    for token in (expired, revoked, rotated):
        assert store.find("github", token.text) is None
    assert renewed is not None
    assert store.find("github", renewed.text) is renewed


def test_googles_earlier_access_token_outlives_a_refresh() -> None:
    store = TokenStore()
    token = store.issue("google", "alice", ())
    renewed = store.refresh("google", token.refresh_token or "")
    assert renewed is not None
    assert renewed.text != token.text
    assert store.find("google", token.text) is token
