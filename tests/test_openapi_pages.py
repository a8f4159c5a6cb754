"""`/docs` and `/redoc`: the document to read, without anything from elsewhere."""

import subprocess
from pathlib import Path

import httpx
import pytest

from local.ports import LOOPBACK
from screenshots.chromium import command
from tests.clients.page import TIMEOUT, needs_browser
from tests.service import Web

PATHS = ["/docs", "/redoc"]


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_made_of_our_own_files(web: Web, path: str) -> None:
    response = httpx.get(f"{web.url}{path}")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "/openapi.json" in response.text
    assert "://" not in response.text


@needs_browser
@pytest.mark.parametrize("path", PATHS)
def test_a_browser_shows_both_interfaces(web: Web, path: str, tmp_path: Path) -> None:
    dom = shown(f"{web.url}{path}", profile=tmp_path)
    assert "Sign in by address and password." in dom
    assert "A chat completion, whole or as a stream." in dom


def shown(url: str, *, profile: Path) -> str:
    """The page as a browser has it that reaches nothing but this machine, once it has come to
    rest."""
    alone = f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {LOOPBACK}"
    at_rest = ("--virtual-time-budget=30000", "--dump-dom")
    done = subprocess.run(
        command(url, alone, *at_rest, profile=profile),
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    return done.stdout
