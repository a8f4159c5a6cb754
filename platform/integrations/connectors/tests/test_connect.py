"""`/api/connectors/{provider}/authorize`, `.../callback` and `POST /api/connectors`."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from integrations.connectors.models import Authorization, Connector
from integrations.connectors.providers import from_environ
from integrations.connectors.tests.owner import CONNECTORS, Owner, follow, learned
from integrations.connectors.types import MAX_AUTHORIZATIONS, MAX_CONNECTORS, Provider

every_provider = pytest.mark.parametrize("provider", list(Provider))
PAGE = "http://127.0.0.1:8000/connectors"


# --- Connecting -----------------------------------------------------------------------------------


@every_provider
def test_an_account_is_connected(alice: Owner, provider: str) -> None:
    answer = alice.connect(provider)

    assert answer.status_code == 201
    connector = answer.json()
    login = f"{alice.login}@gmail.com" if provider == "google_drive" else alice.login
    assert {name: connector[name] for name in ("provider", "login", "status")} == {
        "provider": provider,
        "login": login,
        "status": "connected",
    }
    assert alice.get().json() == [connector]
    assert alice.get(f"/{connector['id']}").json() == connector
    assert alice.events()[-1] == "connector.created"


def test_what_was_allowed_is_told_where_the_provider_says_it(alice: Owner) -> None:
    assert alice.connect("gitlab").json()["scopes"] == ["api"]
    assert alice.connect("github").json()["scopes"] is None


def test_the_page_of_consent_gets_a_state_and_a_challenge_and_no_secret(alice: Owner) -> None:
    answer = alice.authorize("github")

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    asked = parse_qs(urlsplit(answer.json()["authorize_url"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["code_challenge"][0]) == 43
    assert len(asked["state"][0]) >= 43
    assert asked["redirect_uri"] == ["http://127.0.0.1:8000/api/connectors/github/callback"]
    assert asked["scope"] == ["repo workflow"]
    assert not {"client_secret", "code_verifier"} & set(asked)
    left = datetime.fromisoformat(answer.json()["expires_at"]) - timezone.now()
    assert timedelta(minutes=9) < left <= timedelta(minutes=10)


def test_an_account_that_is_connected_again_keeps_its_connector(alice: Owner) -> None:
    first = alice.connected("gitlab")
    answer = alice.connect("gitlab")

    assert (answer.status_code, answer.json()["id"]) == (200, str(first.pk))
    assert Connector.objects.get(pk=first.pk).tokens != first.tokens
    assert alice.events()[-2:] == ["connector.created", "connector.updated"]


def test_several_accounts_of_a_provider_are_several_connectors(alice: Owner) -> None:
    alice.connected("github")
    alice.connected("github", login=f"second-{alice.login}")
    assert [each["login"] for each in alice.get().json()] == [
        f"second-{alice.login}",
        alice.login,
    ]


def test_tokens_and_verifiers_are_stored_encrypted_and_never_shown(
    alice: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    brought = alice.brought_back("github")
    asked = Authorization.objects.get(account=alice.user)
    verifier = asked.verifier
    answer = alice.finish(state=brought["state"], code=brought["code"])
    row = Connector.objects.get(account=alice.user)

    shown = [answer.content, repr(vars(row)), repr(vars(asked)), repr(row.tokens), caplog.text]
    secrets = [row.tokens.access, row.tokens.refresh, verifier, brought["code"]]
    assert not any(secret in str(each) for each in shown for secret in secrets)
    assert brought["state"] not in repr(vars(asked))


def test_the_providers_are_listed(alice: Owner, settings: Settings) -> None:
    settings.CONNECTORS = from_environ({"GITLAB_CLIENT_ID": "x", "GITLAB_CLIENT_SECRET": "y"})
    listed = {each["provider"]: each for each in alice.get("/providers").json()}
    assert {name: each["configured"] for name, each in listed.items()} == {
        "github": False,
        "gitlab": True,
        "google_drive": False,
    }
    assert listed["gitlab"] == {
        "provider": "gitlab",
        "name": "GitLab",
        "configured": True,
        "scopes": ["api"],
    }
    answer = alice.authorize("github")
    assert (answer.status_code, answer.json()["code"]) == (409, "connector_not_configured")


# --- The callback ---------------------------------------------------------------------------------


def test_the_callback_needs_no_session_and_leads_to_the_page_that_was_named(
    alice: Owner, settings: Settings
) -> None:
    pages = ["https://web.example.com/connectors", "https://web.example.com/new?step=2"]
    settings.CONNECTOR_PAGES = pages
    asked = alice.authorize("github", return_to=pages[1]).json()
    page = follow(alice.oauth.consent(asked["authorize_url"], login=alice.login))
    assert page.startswith(f"{pages[1]}&")
    assert set(learned(page)) == {"step", "provider", "state", "code"}


@pytest.mark.parametrize(
    "page",
    [
        "https://evil.example.com/",
        f"{PAGE}/",
        f"{PAGE}?x=1",
        "//evil.example.com",
        "javascript:alert(1)",
    ],
)
def test_a_page_that_is_not_listed_is_422(alice: Owner, page: str) -> None:
    assert refused(alice.authorize("github", return_to=page), "return_to")
    assert not Authorization.objects.filter(account=alice.user).exists()


def test_a_page_that_is_not_listed_any_more_is_not_led_to(alice: Owner, settings: Settings) -> None:
    callback = alice.consent("github")
    settings.CONNECTOR_PAGES = ["https://web.example.com/connectors"]
    page = follow(callback)
    assert page.startswith("https://web.example.com/connectors?")
    assert learned(page) == {"provider": "github", "error": "authorization_expired"}


def test_who_denies_connects_nothing(alice: Owner) -> None:
    callback = alice.consent("github", allow=False)
    assert learned(follow(callback)) == {"provider": "github", "error": "access_denied"}
    assert learned(follow(callback))["error"] == "authorization_expired"
    assert not Connector.objects.filter(account=alice.user).exists()


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"state": "x" * 43, "code": "x"},
        {"state": "\0", "code": "\0"},
        {"state": "x" * 100_000, "code": "x"},
        {"error": "access_denied"},
    ],
)
def test_a_callback_that_nobody_asked_for_ends_on_the_usual_page(
    alice: Owner, query: dict[str, str]
) -> None:
    answer = APIClient().get(f"{CONNECTORS}/github/callback", query)
    assert answer.status_code == 302
    assert learned(answer["Location"]) == {"provider": "github", "error": "authorization_expired"}
    assert answer["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("code", ["", "x" * 5_000])
def test_a_callback_with_an_unusable_code_says_so(alice: Owner, code: str) -> None:
    state = alice.brought_back("github")["state"]
    query = {"state": state, "code": code}
    answer = APIClient().get(f"{CONNECTORS}/github/callback", query)
    assert learned(answer["Location"]) == {"provider": "github", "error": "provider_failed"}


@pytest.mark.parametrize("path", ["svn/authorize", "svn/callback", "GitHub/authorize"])
def test_an_unknown_provider_is_404(alice: Owner, path: str) -> None:
    assert alice.get(f"/{path}").status_code == 404


# --- What connects nothing ------------------------------------------------------------------------


def refused(answer: Any, field: str) -> str:
    """The message of a 422 about that field."""
    assert answer.status_code == 422, answer.content
    [error] = answer.json()["errors"]
    assert error["loc"] == [field]
    return str(error["msg"])


def test_a_consent_connects_the_account_of_who_asked_for_it_and_of_nobody_else(
    alice: Owner, bob: Owner
) -> None:
    """Bob has been talked into opening a page of consent that alice has begun: the code comes back
    to his browser, where nobody can use it."""
    brought = learned(follow(alice.consent("github", login=bob.login)))
    assert "unknown" in refused(bob.finish(state=brought["state"], code=brought["code"]), "state")
    assert not Connector.objects.filter(login=bob.login).exists()
    # The authorization is still alice's, but she does not know the code.
    assert refused(alice.finish(state=brought["state"], code="a-guess"), "code")


def test_a_state_is_used_once(alice: Owner) -> None:
    brought = alice.brought_back("github")
    body = {"state": brought["state"], "code": brought["code"]}
    assert alice.finish(**body).status_code == 201
    assert "was used" in refused(alice.finish(**body), "state")


def test_a_state_of_ten_minutes_ago_is_of_no_use(alice: Owner) -> None:
    callback = alice.consent("github")
    brought = learned(follow(callback))
    Authorization.objects.filter(account=alice.user).update(expires_at=timezone.now())
    assert learned(follow(callback))["error"] == "authorization_expired"
    assert "expired" in refused(alice.finish(state=brought["state"], code=brought["code"]), "state")


def test_a_code_is_of_no_use_with_another_state(alice: Owner) -> None:
    """PKCE binds each code to the authorization that it was asked for with."""
    first, second = alice.brought_back("gitlab"), alice.brought_back("gitlab")
    answer = alice.finish(state=second["state"], code=first["code"])
    assert "does not accept this code" in refused(answer, "code")


def test_an_expired_code_is_422(alice: Owner) -> None:
    brought = alice.brought_back("google_drive")
    alice.oauth.expire(brought["code"])
    assert refused(alice.finish(state=brought["state"], code=brought["code"]), "code")


def test_a_consent_without_the_scope_is_422(alice: Owner) -> None:
    brought = alice.brought_back("gitlab")
    tokens = {"access_token": "x", "token_type": "Bearer", "scope": "read_user"}
    alice.fail("gitlab", "token", body=tokens)
    answer = alice.finish(state=brought["state"], code=brought["code"])
    assert "lacks the scope api" in refused(answer, "code")


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 429, "retry_after": 5},
        {"html": "<p>Down</p>"},
        {"html": "<p>Down</p>", "status": 502},
        {"body": []},
        {"body": {"token_type": "Bearer"}},
        {"body": {"access_token": "a\nb", "token_type": "Bearer"}},
        {"body": {"access_token": 7, "token_type": "Bearer"}},
        {"body": {"access_token": "x" * 20_000, "token_type": "Bearer"}},
        {"body": {"access_token": "x", "expires_in": "soon"}},
        {"body": {"access_token": "x", "expires_in": 10**18}},
        {"body": {"access_token": "x", "expires_in": ["soon"]}},
        {"body": {"access_token": "x", "expires_at": -(10**18)}},
        {"body": {"error": "invalid_client"}},
        {"body": {"error": ["invalid_client"]}},
        {"drop": True},
        {"status": 401, "code": "invalid_client"},
    ],
)
@every_provider
def test_a_server_that_fails_is_502(alice: Owner, provider: str, fault: dict[str, Any]) -> None:
    brought = alice.brought_back(provider)
    alice.fail(provider, "token", **fault)
    answer = alice.finish(state=brought["state"], code=brought["code"])
    assert (answer.status_code, answer.json()["code"]) == (502, "connector_unavailable")
    assert not Connector.objects.filter(account=alice.user).exists()


def test_an_error_of_ours_is_not_taken_for_one_of_the_server(
    alice: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(found: object) -> None:
        raise TypeError

    brought = alice.brought_back("github")
    monkeypatch.setattr("integrations.connectors.oauth._tokens", broken)
    assert alice.finish(state=brought["state"], code=brought["code"]).status_code == 500


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"code": "x"}, "state"),
        ({"state": "x"}, "code"),
        ({"state": 7, "code": "x"}, "state"),
        ({"state": "x" * 101, "code": "x"}, "state"),
        ({"state": "x", "code": "x" * 2_049}, "code"),
        ({"state": "unknown", "code": "x"}, "state"),
        ({"state": "ü", "code": "x"}, "state"),
    ],
)
def test_a_body_that_will_not_do_is_422(alice: Owner, body: dict[str, Any], field: str) -> None:
    assert refused(alice.finish(**body), field)


def test_there_are_at_most_so_many(alice: Owner) -> None:
    brought = alice.brought_back("github")
    first = alice.connected("github", login=f"first-{alice.login}")
    for number in range(MAX_CONNECTORS - 1):
        first.pk, first.login = None, f"{number}-{alice.login}"
        first.id = Connector._meta.pk.get_default()
        first.save(force_insert=True)
    assert alice.authorize("github").json()["code"] == "too_many_connectors"
    answer = alice.finish(state=brought["state"], code=brought["code"])
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_connectors")


def test_open_authorizations_do_not_pile_up(alice: Owner) -> None:
    callback = alice.consent("github")
    for _ in range(MAX_AUTHORIZATIONS):
        assert alice.authorize("github").status_code == 200
    assert Authorization.objects.filter(account=alice.user).count() == MAX_AUTHORIZATIONS
    assert learned(follow(callback))["error"] == "authorization_expired"


@pytest.mark.parametrize("path", ["", "/providers", "/github/authorize"])
def test_without_a_session_there_is_nothing(path: str, db: None) -> None:
    assert APIClient().get(f"{CONNECTORS}{path}").status_code == 401


def test_a_connector_of_somebody_else_is_404(alice: Owner, bob: Owner) -> None:
    connector = alice.connected("google_drive")
    paths = [f"/{connector.pk}", f"/{connector.pk}/files"]
    assert [bob.get(path).status_code for path in paths] == [404, 404]
    assert bob.disconnect(connector) == 404
    assert alice.get(paths[0]).status_code == 200
