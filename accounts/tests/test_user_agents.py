"""What a client is called in the list of sessions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.user_agents import MAX_NAME, client_name

GECKO = "Gecko/20100101 Firefox/149.0"
WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64; rv:149.0) {GECKO}", "Firefox on Linux"),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/150.0.0.0 Safari/537.36",
            "Chrome on Windows",
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/150.0.0.0 Edg/150.0.0.0",
            "Edge on Windows",
        ),
        (
            f"Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} Chrome/150.0.0.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        (
            f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Version/18.5 Safari/605.1",
            "Safari on macOS",
        ),
        (
            f"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5) {WEBKIT} Version/18 Mobile/15E Safari/604.1",
            "Safari on iPhone",
        ),
        ("python-httpx/0.28.1", "python-httpx/0.28.1"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("OpenAI/Python 1.2.3", "OpenAI/Python"),
        ("", ""),
        ("<script>alert(1)</script>", ""),
        ("é", ""),
    ],
)
def test_it_is_a_short_readable_name(header: str, name: str) -> None:
    assert client_name(header) == name


@given(st.text(max_size=2_000))
def test_whatever_is_sent_it_is_short_and_printable(header: str) -> None:
    name = client_name(header)
    assert len(name) <= MAX_NAME
    assert name.isascii()
    assert name.isprintable()
