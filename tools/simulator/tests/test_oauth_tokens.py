"""The token endpoints: codes and refresh tokens, and what each server answers and refuses."""

import time
from urllib.parse import parse_qs

import httpx
import pytest

from simulator.process import RunningSimulator
from simulator.tests.oauth_client import BACK, SCOPES, SECRETS, Client

REFUSED_CODE = {
    "github": (200, "bad_verification_code"),
    "gitlab": (400, "invalid_grant"),
    "google": (400, "invalid_grant"),
}
REFUSED_REFRESH = REFUSED_CODE | {"github": (200, "bad_refresh_token")}


@pytest.fixture(params=("github", "gitlab", "google"))
def client(request: pytest.FixtureRequest, simulator: RunningSimulator) -> Client:
    return Client(simulator, request.param)


@pytest.fixture
def github(simulator: RunningSimulator) -> Client:
    return Client(simulator, "github")


@pytest.fixture
def gitlab(simulator: RunningSimulator) -> Client:
    return Client(simulator, "gitlab")


@pytest.fixture
def google(simulator: RunningSimulator) -> Client:
    return Client(simulator, "google")


def refusal(answer: httpx.Response) -> tuple[int, str]:
    assert answer.json().keys() == {"error", "error_description"}
    return answer.status_code, answer.json()["error"]


def test_github_issues_tokens_of_eight_hours_that_have_no_scope(github: Client) -> None:
    tokens = github.connect()
    assert tokens.pop("access_token").startswith("ghu_")
    assert tokens.pop("refresh_token").startswith("ghr_")
    assert tokens == {
        "token_type": "bearer",
        "scope": "",
        "expires_in": 28_800,
        "refresh_token_expires_in": 15_897_600,
    }


def test_github_answers_with_a_form_unless_json_is_accepted(github: Client) -> None:
    fields = {**SECRETS, "code": github.code(), "code_verifier": github.verifier}
    answer = github.post(fields, headers={"accept": "*/*"})
    assert answer.headers["content-type"].startswith("application/x-www-form-urlencoded")
    assert parse_qs(answer.text)["expires_in"] == ["28800"]
    answer = github.post(fields, headers={"accept": "*/*"})
    assert answer.status_code == 200
    assert parse_qs(answer.text)["error"] == ["bad_verification_code"]


def test_gitlab_issues_tokens_of_two_hours(gitlab: Client) -> None:
    tokens = gitlab.connect()
    assert tokens.keys() == {
        *("access_token", "refresh_token", "token_type", "expires_in", "scope", "created_at")
    }
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 7_200)
    assert tokens["scope"] == SCOPES["gitlab"]
    assert abs(tokens["created_at"] - time.time()) < 5


def test_google_issues_tokens_of_an_hour(google: Client) -> None:
    tokens = google.connect()
    assert tokens["access_token"].startswith("ya29.")
    assert tokens["refresh_token"].startswith("1//")
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3_599)
    assert tokens["scope"] == SCOPES["google"]


def test_google_gives_a_refresh_token_at_the_first_consent_and_on_demand(google: Client) -> None:
    first = google.connect()
    second = google.connect()
    third = google.connect(prompt="select_account consent")
    assert ["refresh_token" in each for each in (first, second, third)] == [True, False, True]


def test_google_gives_no_refresh_token_for_online_access(google: Client) -> None:
    assert "refresh_token" not in google.connect(access_type=None)
    assert "refresh_token" not in google.connect(access_type="online", prompt="consent")
    assert "refresh_token" in google.connect()


def test_tokens_are_not_to_be_stored_by_caches(client: Client) -> None:
    assert client.exchange(client.code()).headers["cache-control"] == "no-store"


def test_a_code_is_used_once_and_a_second_use_ends_its_tokens(client: Client) -> None:
    code = client.code()
    tokens = client.exchange(code).json()
    refreshed = client.refresh(tokens["refresh_token"]).json()
    assert refusal(client.exchange(code)) == REFUSED_CODE[client.host]
    last = refreshed.get("refresh_token", tokens["refresh_token"])
    assert refusal(client.refresh(last)) == REFUSED_REFRESH[client.host]


@pytest.mark.parametrize("verifier", [None, "x" * 43])
def test_a_code_needs_its_verifier(client: Client, verifier: str | None) -> None:
    code = client.code()
    assert refusal(client.exchange(code, code_verifier=verifier)) == REFUSED_CODE[client.host]
    assert "access_token" in client.exchange(code).json()


def test_a_code_is_bound_to_its_redirect_uri(client: Client) -> None:
    code = client.code()
    answer = client.exchange(code, redirect_uri="http://localhost:3000/elsewhere")
    assert (
        refusal(answer)
        == {
            "github": (200, "redirect_uri_mismatch"),
            "gitlab": (400, "invalid_grant"),
            "google": (400, "redirect_uri_mismatch"),
        }[client.host]
    )


def test_an_unknown_and_an_expired_code_are_refused_alike(client: Client) -> None:
    code = client.code()
    client.simulator.oauth.expire(code)
    for each in (code, "unknown"):
        assert refusal(client.exchange(each)) == REFUSED_CODE[client.host]


def test_a_code_of_one_server_means_nothing_to_another(github: Client, gitlab: Client) -> None:
    answer = gitlab.exchange(github.code(), code_verifier=github.verifier)
    assert refusal(answer) == REFUSED_CODE["gitlab"]


def test_a_client_without_its_secret_is_refused(client: Client) -> None:
    for secret in (None, "wrong"):
        answer = client.exchange(client.code(), client_secret=secret)
        wanted = {"github": (200, "incorrect_client_credentials")}
        assert refusal(answer) == wanted.get(client.host, (401, "invalid_client"))


def test_the_secret_may_come_with_basic_authentication_but_at_github(client: Client) -> None:
    code = client.code()
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": BACK,
        "code_verifier": client.verifier,
    }
    answer = client.post(fields, auth=(SECRETS["client_id"], SECRETS["client_secret"]))
    assert ("access_token" in answer.json()) == (client.host != "github")


def test_another_grant_type_is_refused(client: Client) -> None:
    answer = client.post({**SECRETS, "grant_type": "password"})
    assert answer.json()["error"] == "unsupported_grant_type"


@pytest.mark.parametrize("client", ["github", "gitlab"], indirect=True)
def test_a_refresh_token_is_used_once(client: Client) -> None:
    before = client.connect()
    after = client.refresh(before["refresh_token"]).json()
    assert after.keys() == before.keys()
    assert after["access_token"] != before["access_token"]
    assert after["refresh_token"] != before["refresh_token"]
    assert refusal(client.refresh(before["refresh_token"])) == REFUSED_REFRESH[client.host]
    assert "access_token" in client.refresh(after["refresh_token"]).json()


def test_googles_refresh_token_stays(google: Client) -> None:
    before = google.connect()
    for _ in range(2):
        after = google.refresh(before["refresh_token"]).json()
        assert after.keys() == {"access_token", "expires_in", "scope", "token_type"}
        assert after["access_token"] != before["access_token"]


def test_an_expired_access_token_can_be_renewed(client: Client) -> None:
    tokens = client.connect()
    client.simulator.oauth.expire(tokens["access_token"])
    assert "access_token" in client.refresh(tokens["refresh_token"]).json()


def test_an_access_token_is_no_refresh_token(client: Client) -> None:
    answer = client.refresh(client.connect()["access_token"])
    assert refusal(answer) == REFUSED_REFRESH[client.host]


def test_an_unknown_path_is_a_404(client: Client) -> None:
    paths = {"github": "/login/nothing", "gitlab": "/oauth/nothing", "google": "/nothing"}
    assert httpx.get(client.base + paths[client.host]).status_code == 404
