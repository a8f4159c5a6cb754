"""The unmodified openai-node in a page of another origin, in a real browser: what CORS lets it do.

The browser enforces it: a preflight that does not allow a header of the client, or an answer that
does not name the origin, is an error in the page; a header that is not exposed is not there.
"""

import re
from pathlib import Path
from typing import Any

from publicapi.tests.v1.customer import Customer
from tests.clients import page
from tests.clients.environments import PROGRAMS, node_client
from tests.personas import new_key, new_user

pytestmark = [
    node_client("openai_node", "openai-node"),
    page.needs_browser,
]


def test_a_page_of_another_origin_streams_and_reads_headers_and_errors(
    alice: Customer, tmp_path: Path
) -> None:
    _, poor_key = new_key(new_user("bob", plan="max"))
    seen = page.opened(
        PROGRAMS / "openai_node",
        "browser.html",
        {
            "baseURL": f"{alice.web.url}/v1",
            "apiKey": alice.raw_key,
            "poorKey": poor_key,
            "question": alice.prompt(text="Paris it is."),
        },
        profile=tmp_path / "profile",
    )

    assert "error" not in seen, seen["error"]
    charges = alice.charges()
    assert seen["stream"]["text"] == seen["streamHelper"] == "Paris it is."
    assert seen["stream"]["usage"]["completion_tokens"] == charges[0].tokens_out
    assert seen["stream"]["headers"].pop("x-request-id") in {c.request_id for c in charges}
    assert seen["stream"]["headers"] == {
        "x-ratelimit-limit": "120",
        "x-ratelimit-remaining": "119",
        "retry-after": None,
    }
    assert "gpt-6-luna" in seen["models"]
    assert _refused(seen["unknownKey"]) == (401, "invalid_api_key")
    assert _refused(seen["noMoney"]) == (402, "insufficient_balance")
    assert _refused(seen["unknownPath"]) == (404, "not_found")
    assert _refused(seen["tooOften"]) == (429, "rate_limit_exceeded")
    assert 1 <= int(seen["tooOften"]["headers"]["retry-after"]) <= 60
    assert seen["tooOften"]["headers"]["x-ratelimit-remaining"] == "0"


def _refused(failure: dict[str, Any]) -> tuple[int, str]:
    """The status and the code of a failure, which also names its request."""
    assert re.fullmatch(r"req_[0-9a-f]{32}", failure["headers"]["x-request-id"])
    return failure["status"], failure["code"]
