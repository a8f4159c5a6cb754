"""A readable name for the program behind a `User-Agent` (RFC 9110, 10.1.5), for a list of sessions.

The header is a claim of the client. No decision depends on it.
"""

import re

MAX_NAME = 100
# A longer header is cut first.
_MAX_HEADER = 1000
# The first match wins: Edge and Opera also name Chrome, and Chrome also names Safari.
_BROWSERS = (
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/")),
    ("Opera", re.compile(r"\bOPR/")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/")),
    ("Chrome", re.compile(r"\b(?:Chrome|CriOS)/")),
    ("Safari", re.compile(r"\bVersion/[\d.]+ (?:Mobile/\w+ )?Safari/")),
)
# iPads and Android phones also name the system that theirs is derived from.
_SYSTEMS = (
    ("iPhone", re.compile(r"\biPhone\b")),
    ("iPad", re.compile(r"\biPad\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("macOS", re.compile(r"\bMac(?:intosh| OS X)\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)
_PRODUCT = re.compile(r"[!#$%&'*+.^_`|~\w-]+(?:/[!#$%&'*+.^_`|~\w-]+)?", re.ASCII)


def client_name(user_agent: str) -> str:
    """For example `Firefox on Linux`, or `python-httpx/0.28.1`; empty where the header names
    none."""
    header = user_agent[:_MAX_HEADER]
    browser, system = _first(_BROWSERS, header), _first(_SYSTEMS, header)
    if browser:
        return f"{browser} on {system}" if system else browser
    product = _PRODUCT.match(header)
    return product[0][:MAX_NAME] if product else ""


def _first(names: tuple[tuple[str, re.Pattern[str]], ...], header: str) -> str:
    return next((name for name, pattern in names if pattern.search(header)), "")
