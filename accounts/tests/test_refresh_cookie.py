"""The refresh token in a cookie: how a page of ours signs in, stays signed in, and signs out."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http.cookies import Morsel
from typing import Any

import httpx
import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User, UserSession
from common.ids import uuid7
from conftest import PASSWORD, Persona
from simulator.process import RunningSimulator
from tests.service import Web

SIGN_UP, SIGN_IN, GOOGLE, REFRESH, CHANGE, LOG_OUT = (
    f"/api/auth/{name}"
    for name in ("signup", "login", "google", "refresh", "change-password", "logout")
)
OURS = "http://testserver"
NEW_PASSWORD = "two tides make one day"
THIRTY_DAYS = 30 * 24 * 3600


class Browser:
    """With a page of the service in it, unless another `origin` is named. It keeps the cookie."""

    def __init__(self, origin: str | None = OURS, **headers: Any) -> None:
        self.client = APIClient(**headers | ({} if origin is None else {"HTTP_ORIGIN": origin}))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self.client.post(path, body, format="json")

    def sign_in(self, persona: Persona) -> Any:
        return self.post(SIGN_IN, _sign_in(persona))

    def refresh(self) -> Any:
        return self.post(REFRESH, {"cookie": True})

    def carry(self, access_token: str) -> None:
        self.client.credentials(HTTP_AUTHORIZATION=f"Bearer {access_token}")

    @property
    def token(self) -> str:
        """The refresh token in the cookie; empty without one."""
        cookie = self.client.cookies.get("refresh_token")
        return cookie.value if cookie else ""


def _sign_in(persona: Persona) -> dict[str, Any]:
    return {"email": persona.user.email, "password": persona.password, "cookie": True}


def signed_in(persona: Persona) -> Browser:
    browser = Browser()
    browser.carry(browser.sign_in(persona).json()["access_token"])
    return browser


def cookie_of(answer: Any) -> Morsel[str]:
    cookie: Morsel[str] = answer.cookies["refresh_token"]
    return cookie


def forgets(answer: Any) -> bool:
    """Does the answer have the browser delete its cookie?"""
    cookie = answer.cookies.get("refresh_token")
    return cookie is not None and (cookie.value, cookie["max-age"]) == ("", 0)


def can_refresh(token: str) -> bool:
    body = {"refresh_token": token}
    return bool(APIClient().post(REFRESH, body, format="json").status_code == 200)


def test_every_way_in_keeps_the_token_from_scripts(
    alice: Persona, google: RunningSimulator
) -> None:
    claims = {"sub": "1", "email": "new@example.com"}
    change = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    page = signed_in(alice)
    answers = [
        Browser().post(SIGN_UP, {"email": "a@example.com", "password": PASSWORD, "cookie": True}),
        Browser().post(SIGN_IN, _sign_in(alice)),
        Browser().post(GOOGLE, {"id_token": google.id_token(claims=claims), "cookie": True}),
        page.post(CHANGE, change | {"cookie": True}),
        page.refresh(),
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 200, 200, 200]
    for answer in answers:
        body, cookie = answer.json(), cookie_of(answer)
        assert body.keys() == {"access_token", "refresh_token", "token_type", "expires_in", "user"}
        assert body["refresh_token"] is None
        assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (REFRESH, True, "Strict")
        assert not cookie["domain"]
        assert THIRTY_DAYS - 10 <= cookie["max-age"] <= THIRTY_DAYS
    # A change of the password ends the sessions before it.
    are_live = [can_refresh(cookie_of(answer).value) for answer in answers]
    assert are_live == [True, False, True, True, True]


def test_who_does_not_ask_for_a_cookie_gets_none(alice: Persona) -> None:
    body = {"email": alice.user.email, "password": PASSWORD}
    for asked in (body, body | {"cookie": False}):
        answer = Browser().post(SIGN_IN, asked)
        assert not answer.cookies
        assert can_refresh(answer.json()["refresh_token"])


def test_a_refresh_replaces_the_cookie_and_brings_who_is_signed_in(alice: Persona) -> None:
    page = Browser()
    page.sign_in(alice)
    first = page.token
    answer = page.refresh()
    assert answer.status_code == 200
    assert answer.json()["user"]["email"] == alice.user.email
    assert page.token not in ("", first)
    page.carry(answer.json()["access_token"])
    assert page.client.get("/api/auth/me").status_code == 200
    assert page.refresh().status_code == 200


def test_the_cookie_ends_with_its_session(alice: Persona) -> None:
    page = Browser()
    page.sign_in(alice)
    almost = timedelta(days=89, hours=23, minutes=50)
    UserSession.objects.filter(account=alice.user).update(created_at=timezone.now() - almost)
    assert 590 < cookie_of(page.refresh())["max-age"] <= 600


def test_the_cookie_is_for_tls_alone_in_production_and_wherever_there_is_tls(
    alice: Persona, settings: Settings
) -> None:
    assert not cookie_of(Browser().sign_in(alice))["secure"]
    settings.SESSION_COOKIE_SECURE = True
    assert cookie_of(Browser().sign_in(alice))["secure"]
    settings.SESSION_COOKIE_SECURE = False
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    page = Browser("https://testserver", HTTP_HOST="testserver", HTTP_X_FORWARDED_PROTO="https")
    assert cookie_of(page.sign_in(alice))["secure"]


FOREIGN = [
    None,
    "null",
    "",
    "https://evil.example.com",
    "https://testserver",
    "http://testserver:81",
    "http://testserver.evil.example.com",
    "http://evil.example.com, http://testserver",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_nothing_is_done_for_a_foreign_page_or_one_without_a_name(
    alice: Persona, origin: str | None
) -> None:
    page = Browser()
    page.sign_in(alice)
    foreign = Browser(origin)
    foreign.client.cookies = page.client.cookies
    new = {"email": "new@example.com", "password": PASSWORD, "cookie": True}
    change = {"current_password": PASSWORD, "new_password": NEW_PASSWORD, "cookie": True}
    answers = [
        foreign.post(SIGN_UP, new),
        foreign.post(SIGN_IN, _sign_in(alice)),
        foreign.post(GOOGLE, {"id_token": "x", "cookie": True}),
        foreign.refresh(),
    ]
    foreign.carry(alice.signed_in.access_token)
    answers.append(foreign.post(CHANGE, change))
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
        assert not answer.cookies
    assert not User.objects.filter(email="new@example.com").exists()
    alice.user.refresh_from_db()
    assert alice.user.check_password(PASSWORD)
    assert page.refresh().status_code == 200


@pytest.mark.parametrize(
    ("setting", "address", "origin"),
    [
        ("WEB_APP_URL", "https://Web.example.com:443/app/", "https://web.example.com"),
        ("PUBLIC_BASE_URL", "https://app.example.com:8443", "https://app.example.com:8443"),
        ("WEB_APP_URL", "http://[::1]:5173", "http://[::1]:5173"),
    ],
)
def test_pages_at_the_addresses_of_the_service_are_its_own(
    alice: Persona, settings: Settings, setting: str, address: str, origin: str
) -> None:
    page = Browser(origin)
    assert page.sign_in(alice).status_code == 403
    setattr(settings, setting, address)
    assert page.sign_in(alice).status_code == 200
    assert page.refresh().status_code == 200


def test_a_development_server_that_passes_on_its_host_needs_no_setting(alice: Persona) -> None:
    page = Browser("http://localhost:5173", HTTP_HOST="localhost:5173")
    assert page.sign_in(alice).status_code == 200
    assert page.refresh().status_code == 200


def test_an_app_of_another_origin_has_tokens_but_no_cookie(
    alice: Persona, settings: Settings
) -> None:
    origin = "https://other.example.com"
    settings.CORS_ALLOWED_ORIGINS = [origin]
    app = Browser(origin)
    refused = app.sign_in(alice)
    assert (refused.status_code, refused["Access-Control-Allow-Origin"]) == (403, origin)
    assert "Access-Control-Allow-Credentials" not in refused
    body = {"email": alice.user.email, "password": PASSWORD}
    assert app.post(SIGN_IN, body).json()["refresh_token"]


@pytest.mark.django_db
def test_a_browser_in_which_nobody_has_signed_in_is_told_so() -> None:
    answer = Browser().refresh()
    assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")
    assert not answer.cookies


@pytest.mark.parametrize("token", ["x", "a.b.c", "." * 1000, "x" * 4000])
@pytest.mark.django_db
def test_a_cookie_with_garbage_is_forgotten(token: str) -> None:
    page = Browser()
    page.client.cookies["refresh_token"] = token
    answer = page.refresh()
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
    assert forgets(answer)


def test_a_page_whose_session_was_ended_elsewhere_forgets_its_cookie(alice: Persona) -> None:
    page = signed_in(alice)
    assert alice.client.post("/api/auth/sessions/end-others").status_code == 204
    answer = page.refresh()
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
    assert forgets(answer)
    assert cookie_of(answer)["path"] == REFRESH


def test_a_token_that_is_used_again_later_ends_its_session_in_a_cookie_too(alice: Persona) -> None:
    page = Browser()
    page.sign_in(alice)
    stolen = page.token
    page.refresh()
    later = timezone.now() - timedelta(seconds=31)
    UserSession.objects.filter(account=alice.user).update(rotated_at=later)
    thief = Browser()
    thief.client.cookies["refresh_token"] = stolen
    assert thief.refresh().status_code == 401
    assert page.refresh().status_code == 401


def test_a_suspended_account_keeps_its_cookie(alice: Persona) -> None:
    page = signed_in(alice)
    User.objects.filter(pk=alice.user.pk).update(status=User.Status.SUSPENDED)
    answer = page.refresh()
    assert (answer.status_code, answer.json()["code"]) == (403, "account_disabled")
    assert not answer.cookies


def test_without_asking_for_the_cookie_it_is_neither_read_nor_changed(alice: Persona) -> None:
    page = signed_in(alice)
    before = page.token
    for body, expected in (
        ({}, 422),
        ({"cookie": False}, 422),
        ({"refresh_token": "x"}, 401),
        ({"refresh_token": alice.signed_in.refresh_token}, 200),
    ):
        answer = page.post(REFRESH, body)
        assert answer.status_code == expected
        assert not answer.cookies
    assert page.post(REFRESH, {}).json() == {
        "detail": "refresh_token: This field is required.",
        "code": "validation_failed",
        "errors": [{"loc": ["refresh_token"], "msg": "This field is required."}],
    }
    assert page.token == before
    assert can_refresh(before)


def test_a_refresh_names_one_token(alice: Persona) -> None:
    page = signed_in(alice)
    both = {"refresh_token": alice.signed_in.refresh_token, "cookie": True}
    answer = page.post(REFRESH, both)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["refresh_token"]
    assert can_refresh(page.token)


@pytest.mark.parametrize("value", ["yes", 1, "true", None, []])
def test_the_field_is_true_or_false(alice: Persona, value: Any) -> None:
    page = Browser()
    answers = [page.post(SIGN_IN, _sign_in(alice) | {"cookie": value})]
    answers.append(page.post(REFRESH, {"cookie": value}))
    for answer in answers:
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["loc"] == ["cookie"]


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_a_form_cannot_refresh(alice: Persona, kind: str) -> None:
    page = signed_in(alice)
    answer = page.client.generic("POST", REFRESH, '{"cookie": true}', content_type=kind)
    assert answer.status_code == 415
    assert can_refresh(page.token)


def _log_out(page: Browser) -> Any:
    return page.client.post(LOG_OUT)


def _end_the_current_session(page: Browser) -> Any:
    [current] = [row for row in page.client.get("/api/auth/sessions").json() if row["current"]]
    return page.client.delete(f"/api/auth/sessions/{current['id']}")


def _close_the_account(page: Browser) -> Any:
    return page.client.delete("/api/users/me")


@pytest.mark.parametrize("leave", [_log_out, _end_the_current_session, _close_the_account])
def test_signing_out_leaves_no_cookie(alice: Persona, leave: Any) -> None:
    page = signed_in(alice)
    token = page.token
    answer = leave(page)
    assert (answer.status_code, answer.content) == (204, b"")
    assert forgets(answer)
    assert cookie_of(answer)["path"] == REFRESH
    assert not can_refresh(token)


@pytest.mark.parametrize("leave", [_log_out, _end_the_current_session, _close_the_account])
def test_a_program_that_signs_out_is_told_of_no_cookie(alice: Persona, leave: Any) -> None:
    program = Browser(None)
    program.carry(alice.signed_in.access_token)
    answer = leave(program)
    assert answer.status_code == 204
    assert not answer.cookies


def test_ending_other_sessions_keeps_the_cookie(alice: Persona) -> None:
    page = signed_in(alice)
    [other] = [r for r in page.client.get("/api/auth/sessions").json() if not r["current"]]
    answers = [
        page.client.delete(f"/api/auth/sessions/{other['id']}"),
        page.client.post("/api/auth/sessions/end-others"),
        page.client.delete(f"/api/auth/sessions/{uuid7()}"),
    ]
    assert [answer.status_code for answer in answers] == [204, 204, 404]
    assert not any(answer.cookies for answer in answers)
    assert page.refresh().status_code == 200


def test_tabs_that_refresh_at_once_share_one_session(committed: None, web: Web) -> None:
    """With a browser's rules for cookies, against a running process."""
    new = {"email": f"{uuid7()}@example.com", "password": PASSWORD, "cookie": True}
    with httpx.Client(base_url=web.url, headers={"Origin": web.url}) as browser:
        assert browser.post(SIGN_UP, json=new).status_code == 201
        [cookie] = browser.cookies.jar
        assert (cookie.path, cookie.domain) == (REFRESH, "127.0.0.1")
        assert "cookie" not in browser.get("/api/auth/me").request.headers

        def refresh(_: int) -> httpx.Response:
            headers = {"Origin": web.url, "Cookie": f"{cookie.name}={cookie.value}"}
            return httpx.post(f"{web.url}{REFRESH}", json={"cookie": True}, headers=headers)

        with ThreadPoolExecutor(4) as tabs:
            answers = list(tabs.map(refresh, range(4)))
        assert [answer.status_code for answer in answers] == [200] * 4
        assert len({answer.cookies["refresh_token"] for answer in answers}) == 1

        # The browser has what came last, and goes on with it.
        browser.cookies.extract_cookies(answers[-1])
        again = browser.post(REFRESH, json={"cookie": True})
        assert again.status_code == 200
        browser.headers["Authorization"] = f"Bearer {again.json()['access_token']}"
        assert browser.post(LOG_OUT).status_code == 204
        assert not list(browser.cookies.jar)
        assert browser.post(REFRESH, json={"cookie": True}).json()["code"] == "not_signed_in"
