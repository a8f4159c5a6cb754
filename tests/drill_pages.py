"""Pages as a real browser shows them: the front page, the documentation, the admin."""

import time

import pytest

from apidocs.examples.bodies import REQUESTS
from devserver.ports import LOOPBACK
from screenshots.chromium import new_page
from tests.clients.page import TIMEOUT, needs_browser
from tests.operators import new_operator
from tests.personas import PASSWORD, new_user
from tests.service import Web

TEXT = "document.body.innerText"
# Goes down, and from the end to the start again: a page may grow above what is shown.
SCROLL = (
    "scrollY + innerHeight < document.body.scrollHeight - 1"
    " ? scrollBy(0, innerHeight) : scrollTo(0, 0)"
)
WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", event =>
    violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
addEventListener("error", event => violations.push(String(event.message)), true);
addEventListener("unhandledrejection", event => violations.push(String(event.reason)));
"""

pytestmark = [needs_browser, pytest.mark.usefixtures("committed")]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_applies_the_style_and_a_phone_need_not_scroll_sideways(
    web: Web, width: int
) -> None:
    with new_page(width) as page:
        page.open(web.url)
        page.picture()  # at that width
        font = page.evaluate("getComputedStyle(document.body).fontFamily")
        assert "system-ui" in font
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_pages_of_the_admin_break_none_of_their_own_rules(web: Web) -> None:
    operator, alice = new_operator().user, new_user("alice")
    with new_page(1400) as page:
        page.run_first(WATCH)

        def check(place: str) -> None:
            assert page.evaluate("violations.join('; ')") == "", place
            # The theme's scripts run.
            assert page.evaluate("typeof Alpine") == "object", place

        page.open(f"{web.url}/admin/login/")
        check("login")
        page.submit("form", {"username": operator.email, "password": PASSWORD})
        check("dashboard")
        for path in (
            "accounts/user/",
            f"accounts/user/{alice.pk}/change/",
            "billing/charge/?status__exact=held",
            "catalog/aimodel/",
            "auth/group/add/",
            "password_change/",
            "second-factor/",
        ):
            page.open(f"{web.url}/admin/{path}")
            check(path)


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_a_browser_shows_both_interfaces(web: Web, path: str) -> None:
    texts = {"Sign in by address and password.", "A chat completion, whole or as a stream."}
    assert_shown(f"{web.url}{path}", texts, between=SCROLL)


@pytest.mark.parametrize(
    "path", ["/docs#/Authentication/signIn", "/redoc#tag/Authentication/operation/signIn"]
)
def test_a_link_to_an_operation_shows_its_examples(web: Web, path: str) -> None:
    texts = {REQUESTS["SignIn"]["password"], REQUESTS["RefreshInput"]["refresh_token"]}
    assert_shown(f"{web.url}{path}", texts)


def assert_shown(url: str, texts: set[str], between: str = "") -> None:
    """Each of the texts is to be seen, in time; `between` is a script that is run between two
    looks, because a long page has nothing but what is to be seen of it."""
    # The browser reaches nothing but this machine.
    alone = f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {LOOPBACK}"
    deadline = time.monotonic() + TIMEOUT
    missing = texts
    with new_page(1200, alone) as page:
        page.open(url)
        while missing := {each for each in missing if each not in page.evaluate(TEXT)}:
            assert time.monotonic() < deadline, missing
            page.evaluate(between)
            time.sleep(0.1)
