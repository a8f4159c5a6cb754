"""`/docs` and `/redoc`: the document to read, without anything from elsewhere."""

import time

import httpx
import pytest

from local.ports import LOOPBACK
from screenshots.chromium import new_page
from tests.clients.page import TIMEOUT, needs_browser
from tests.service import Web

PATHS = ["/docs", "/redoc"]
TEXT = "document.body.innerText"


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
    missing = {"Sign in by address and password.", "A chat completion, whole or as a stream."}
    # The browser reaches nothing but this machine.
    alone = f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {LOOPBACK}"
    deadline = time.monotonic() + TIMEOUT
    with new_page(1200, alone) as page:
        page.open(f"{web.url}{path}")
        while missing := {each for each in missing if each not in page.evaluate(TEXT)}:
            assert time.monotonic() < deadline, missing
            # A long page has nothing but what is to be seen of it.
            page.evaluate("scrollBy(0, innerHeight)")
            time.sleep(0.1)
