"""The pages of the authorization servers: what they ask, and whom they send back."""

from urllib.error import HTTPError

import httpx
import pytest

from simulator.process import RunningSimulator
from simulator.tests.oauth_client import BACK, Client

HOSTS = ("github", "gitlab", "google")


@pytest.fixture(params=HOSTS)
def client(request: pytest.FixtureRequest, simulator: RunningSimulator) -> Client:
    return Client(simulator, request.param)


def test_the_page_names_the_scopes_and_asks_for_a_login(client: Client) -> None:
    scopes = {"github": "repo", "gitlab": "api", "google": "openid"}
    page = httpx.get(client.authorize_url(scope=scopes[client.host]))
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f"<code>{scopes[client.host]}</code>" in page.text
    assert '<input name="login"' in page.text
    assert ">Allow</button>" in page.text
    assert ">Deny</button>" in page.text


def test_the_page_shows_what_it_was_given_as_text(client: Client) -> None:
    page = httpx.get(client.authorize_url(state='"><script>'))
    assert 'value="&quot;&gt;&lt;script&gt;"' in page.text
    assert "<script>" not in page.text


def test_a_person_who_allows_is_sent_back_with_a_code_and_the_state(client: Client) -> None:
    back = client.sent_back()
    assert back["code"]
    assert back["state"] == "a&b"
    assert "error" not in back


def test_a_person_who_denies_is_sent_back_without_a_code(client: Client) -> None:
    back = client.sent_back_denying()
    assert back["error"] == "access_denied"
    assert back["state"] == "a&b"
    assert "code" not in back


def test_only_google_repeats_what_was_allowed(simulator: RunningSimulator) -> None:
    repeated = {host: "scope" in Client(simulator, host).sent_back() for host in HOSTS}
    assert repeated == {"github": False, "gitlab": False, "google": True}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
    ],
)
def test_a_request_that_lacks_something_is_sent_back_and_by_google_shown(
    client: Client, changes: dict[str, str | None], error: str
) -> None:
    if client.host != "google":
        assert client.sent_back(**changes)["error"] == error
        return
    with pytest.raises(HTTPError) as raised:
        client.sent_back(**changes)
    assert raised.value.code == 400
    assert error in raised.value.read().decode()


def test_gitlab_refuses_scopes_that_it_does_not_have(simulator: RunningSimulator) -> None:
    back = Client(simulator, "gitlab").sent_back(scope="api everything")
    assert back["error"] == "invalid_scope"


@pytest.mark.parametrize(
    ("scope", "error"), [("drive", "invalid_scope"), (None, "invalid_request")]
)
def test_google_shows_a_page_for_a_wrong_scope(
    simulator: RunningSimulator, scope: str | None, error: str
) -> None:
    page = httpx.get(Client(simulator, "google").authorize_url(scope=scope))
    assert page.status_code == 400
    assert error in page.text


def test_an_unknown_client_is_not_sent_anywhere(client: Client) -> None:
    answer = httpx.get(client.authorize_url(client_id="stranger"))
    assert answer.status_code in (401, 404)
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    "target",
    [
        None,
        "https://example.com/",
        "//example.com",
        "javascript:alert(1)",
        "http://[::1",
        "http://localhost/\r\nx: y",
        "http://localhost@example.com/",
        "http://example.com\\@localhost/",
        f"{BACK}#fragment",
    ],
)
def test_a_code_stays_on_this_machine(client: Client, target: str | None) -> None:
    fields = client.query(redirect_uri=target) | {"login": "alice", "decision": "allow"}
    url = client.authorize_url(redirect_uri=target)
    for answer in (httpx.get(url), httpx.post(url.partition("?")[0], data=fields)):
        assert answer.status_code == 400
        assert "location" not in answer.headers


def test_nobody_is_sent_back_without_a_login(client: Client) -> None:
    url = client.authorize_url().partition("?")[0]
    fields = client.query() | {"decision": "allow", "login": " "}
    assert httpx.post(url, data=fields).status_code == 400


def test_there_is_no_way_around_the_form(client: Client) -> None:
    answer = httpx.get(f"{client.authorize_url()}&login=alice&decision=allow&auto=alice")
    assert answer.status_code == 200
    assert "location" not in answer.headers


def test_a_page_outside_of_the_simulator_is_not_opened(simulator: RunningSimulator) -> None:
    with pytest.raises(ValueError, match="not a URL of the simulator"):
        simulator.oauth.consent("http://127.0.0.1:1/authorize")
