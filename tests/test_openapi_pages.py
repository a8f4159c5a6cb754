"""`/docs` and `/redoc`: the document to read, without anything from elsewhere."""

import time

import httpx
import pytest

from config.examples.bodies import REQUESTS
from config.examples.fields import FIELDS
from local.ports import LOOPBACK
from screenshots.chromium import new_page
from tests.clients.page import TIMEOUT, needs_browser
from tests.service import Web

PATHS = ["/docs", "/redoc"]
TEXT = "document.body.innerText"
# Goes down, and from the end to the start again: a page may grow above what is shown.
SCROLL = (
    "scrollY + innerHeight < document.body.scrollHeight - 1"
    " ? scrollBy(0, innerHeight) : scrollTo(0, 0)"
)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_made_of_our_own_files(web: Web, path: str) -> None:
    response = httpx.get(f"{web.url}{path}")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "/openapi.json" in response.text
    assert "://" not in response.text


@needs_browser
@pytest.mark.parametrize("path", PATHS)
def test_a_browser_shows_both_interfaces(web: Web, path: str) -> None:
    texts = {"Sign in by address and password.", "A chat completion, whole or as a stream."}
    assert_shown(f"{web.url}{path}", texts, between=SCROLL)


@needs_browser
@pytest.mark.parametrize(
    "path", ["/docs#/Authentication/signIn", "/redoc#tag/Authentication/operation/signIn"]
)
def test_a_link_to_an_operation_shows_its_examples(web: Web, path: str) -> None:
    texts = {REQUESTS["SignIn"]["password"], FIELDS["refresh_token"]}
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
