"""The web app's page in a real browser: its policy, and the cookie of its session."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from common.ids import uuid7
from screenshots.chromium import Page, new_page
from simulator.process import RunningSimulator
from tests.clients.page import TIMEOUT, needs_browser
from tests.personas import PASSWORD
from tests.service import Web, running_web
from tests.web_build import ASKING, START, write_build

WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", event => violations.push(event.effectiveDirective));
"""
# Only by TLS would it be stopped: the service answers it with a 401.
SOCKET = "new WebSocket(`ws://${location.host}/api/ws`).onclose = () => { window.refused = true; }"

pytestmark = [needs_browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def app(simulator: RunningSimulator, tmp_path: Path) -> Iterator[Web]:
    folder = write_build(tmp_path)
    (folder / f"{START.removeprefix('/')}.br").unlink()  # not what a browser could read
    with running_web(simulator, WEB_APP="on", WEB_APP_DIR=str(folder)) as web:
        yield web


def awaited(page: Page, expression: str) -> Any:
    """What the expression is once it is something."""
    deadline = time.monotonic() + TIMEOUT
    while (value := page.evaluate(expression)) is None:
        assert time.monotonic() < deadline, expression
        time.sleep(0.05)
    return value


def posted(page: Page, path: str, body: dict[str, Any], token: str = "") -> dict[str, Any]:
    """What a script of the page is answered: the status, and the body where there is one."""
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    options = json.dumps({"method": "POST", "headers": headers, "body": json.dumps(body)})
    page.evaluate(
        "window.answer = undefined;"
        f"fetch({json.dumps(path)}, {options}).then(async answer => {{"
        "  const text = await answer.text();"
        "  window.answer = {status: answer.status, ...(text ? JSON.parse(text) : {})};"
        "})"
    )
    answer: dict[str, Any] = awaited(page, "window.answer")
    return answer


def test_the_page_runs_its_own_scripts_and_no_others(app: Web) -> None:
    with new_page(1280) as page:
        page.run_first(WATCH)
        page.open(f"{app.url}/chat/1")
        assert awaited(page, "window.started") is True
        assert page.evaluate("window.theme") == "dark"
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
        assert (
            page.evaluate("getComputedStyle(document.querySelector('p')).color") == "rgb(0, 128, 0)"
        )
        page.evaluate(f"{SOCKET};")
        assert awaited(page, "window.refused") is True
        page.evaluate(
            f"new Worker({json.dumps(ASKING)}).onmessage = e => {{ window.asked = e.data }}"
        )
        assert awaited(page, "window.asked") == 200
        assert page.evaluate("violations") == []

        page.evaluate(
            "const script = document.createElement('script');"
            "script.textContent = 'window.foreign = true';"
            "document.body.append(script);"
            "document.body.insertAdjacentHTML('beforeend',"
            "  '<img src=data: onerror=\"window.foreign = true\"><style>p { color: red }</style>');"
            "document.body.insertAdjacentHTML('beforeend', '<base href=https://example.com/>')"
        )
        expected = {"script-src-elem", "script-src-attr", "style-src-elem", "base-uri"}
        deadline = time.monotonic() + TIMEOUT
        while (seen := set(page.evaluate("violations"))) != expected:
            assert time.monotonic() < deadline, seen
            time.sleep(0.05)
        assert page.evaluate("window.foreign") is None


def test_a_browser_stays_signed_in_by_a_cookie_that_no_script_sees(app: Web) -> None:
    new = {"email": f"{uuid7()}@example.com", "password": PASSWORD, "cookie": True}
    with new_page(1280) as page:
        page.open(app.url)
        assert posted(page, "/api/auth/refresh", {"cookie": True})["code"] == "not_signed_in"
        pair = posted(page, "/api/auth/signup", new)
        assert (pair["status"], pair["refresh_token"]) == (201, None)
        assert page.evaluate("document.cookie") == ""

        page.open(f"{app.url}/sign-in")
        again = posted(page, "/api/auth/refresh", {"cookie": True})
        assert (again["status"], again["user"]["email"]) == (200, new["email"])

        assert posted(page, "/api/auth/logout", {}, again["access_token"])["status"] == 204
        assert posted(page, "/api/auth/refresh", {"cookie": True})["code"] == "not_signed_in"
