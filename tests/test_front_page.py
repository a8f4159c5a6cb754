"""`/`: a page for browsers, and a 404 for programs."""

import re
from base64 import b64encode
from hashlib import sha256

import httpx
import pytest
from django.conf import settings as of_the_suite
from django.test import Client
from pytest_django import Settings

from config.front_page import MAX_AGE_SECONDS
from simulator.process import RunningSimulator
from tests.service import running_web

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"
PAGE = "text/html; charset=utf-8"


def shown(client: Client) -> str:
    response = client.get("/", headers={"accept": BROWSER})
    assert response.status_code == 200
    return response.content.decode()


def test_a_browser_is_shown_a_page_that_may_be_kept_for_a_while(client: Client) -> None:
    response = client.get("/", headers={"accept": BROWSER})
    assert (response.status_code, response["Content-Type"]) == (200, PAGE)
    assert response["Cache-Control"] == f"public, max-age={MAX_AGE_SECONDS}"
    assert "Accept" in response["Vary"]
    assert "Set-Cookie" not in response
    assert of_the_suite.PRODUCT_NAME in response.content.decode()


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html", ""])
def test_a_program_gets_the_404_of_any_unknown_path(client: Client, accept: str) -> None:
    headers = {"accept": accept} if accept else {}
    response = client.get("/", headers=headers)
    assert response.status_code == 404
    assert response.json() == {"detail": "There is nothing at this address.", "code": "not_found"}
    assert "Accept" in response["Vary"]


def test_only_reading_is_answered_with_the_page(client: Client) -> None:
    assert client.post("/", headers={"accept": BROWSER}).status_code == 404
    head = client.head("/", headers={"accept": BROWSER})
    assert (head.status_code, head.content) == (200, b"")


def test_its_links_lead_somewhere_and_fetch_nothing(client: Client) -> None:
    page = shown(client)
    links = re.findall(r'href="([^"]+)"', page)
    assert links == ["/docs", "/redoc", "/openapi.json", "/asyncapi.json", "/admin/"]
    for link in links:
        assert client.get(link).status_code in (200, 302), link
    assert not re.search(r"<(script|img|link|iframe)\b|url\(|@import", page)


def test_the_policy_allows_the_style_of_the_page_alone(client: Client) -> None:
    response = client.get("/", headers={"accept": BROWSER})
    [style] = re.findall(r"<style>(.*?)</style>", response.content.decode(), re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = response["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert "unsafe" not in policy


def test_the_demo_s_credentials_are_named_where_there_are_any(
    client: Client, settings: Settings
) -> None:
    settings.DEMO_SEEDS = False
    assert "demo.json" not in shown(client)
    settings.DEMO_SEEDS = True
    assert f"<code>{settings.VAR_DIR / 'demo.json'}</code>" in shown(client)


def test_production_shows_neither_documentation_nor_credentials(
    client: Client, settings: Settings
) -> None:
    shown(client)  # the routes of a process are those of the settings at its first request
    settings.PRODUCTION, settings.DEMO_SEEDS = True, False
    settings.PUBLIC_BASE_URL = "https://app.example.com"
    settings.WEB_APP_URL, settings.API_HOST = "https://web.example.com", "api.example.com"
    page = shown(client)
    assert re.findall(r'href="([^"]+)"', page) == ["https://web.example.com", "/admin/"]
    assert "<code>https://api.example.com/v1</code>" in page


@pytest.mark.usefixtures("committed")
def test_the_host_of_the_api_has_no_page(simulator: RunningSimulator) -> None:
    browser = {"accept": BROWSER}
    with running_web(simulator, API_HOST="api.example.com") as web:
        page = httpx.get(web.url, headers=browser)
        api = httpx.get(web.url, headers=browser | {"host": "api.example.com"})
    assert (page.status_code, page.headers["x-frame-options"]) == (200, "DENY")
    assert (api.status_code, api.json()["error"]["code"]) == (404, "not_found")
