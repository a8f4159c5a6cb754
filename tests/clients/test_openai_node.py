"""The unmodified openai-node client against the running service; `make node` installs it."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from billing.models import Charge
from common.local.paths import ROOT
from tests.personas import new_key, new_user
from tests.service import Web

CLIENTS = ROOT / "tests" / "clients"

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
    pytest.mark.skipif(
        not (CLIENTS / "node_modules" / "openai").exists(),
        reason="openai-node is not installed: run `make node`",
    ),
]

Node = Callable[[str], Any]


@pytest.fixture
def node(web: Web, committed: None) -> Node:
    """Runs one case of `openai.mjs` as a customer of its own, and returns what it printed."""

    def run(case: str) -> Any:
        _, key = new_key(new_user("alice", plan="max", balance_usd=1))
        done = subprocess.run(
            ["node", "openai.mjs", case],
            cwd=CLIENTS,
            env={"PATH": os.environ["PATH"], "BASE_URL": f"{web.url}/v1", "API_KEY": key},
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_a_whole_answer_comes_with_the_tokens_that_were_billed(node: Node) -> None:
    answer = node("answer")
    assert len(answer["text"].split()) == 7
    assert answer["finish_reason"] == "stop"
    charge = Charge.objects.get(request_id=answer["id"])
    assert answer["usage"]["completion_tokens"] == charge.tokens_out == 7
    assert answer["usage"]["prompt_tokens"] == charge.tokens_in


def test_a_stream_ends_with_its_reason_and_its_usage(node: Node) -> None:
    stream = node("stream")
    assert len(stream["text"].split()) == 7
    assert stream["finish_reason"] == "stop"
    assert stream["usage"]["completion_tokens"] == 7
    assert stream["earlier_usages"] == 0


def test_the_stream_helper_puts_the_answer_together(node: Node) -> None:
    answer = node("streamHelper")
    assert len(answer["text"].split()) == 7
    assert answer["whole"] == answer["text"]
    assert answer["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] == 7


def test_a_failure_in_the_middle_of_a_stream_is_thrown_after_what_came(node: Node) -> None:
    broken = node("brokenStream")
    assert len(broken["text"].split()) == 3
    assert broken["code"] == "upstream_error"


def test_models_are_listed_and_retrieved(node: Node) -> None:
    models = node("models")
    assert "gpt-6-luna" in models["ids"]
    assert models["retrieved"]["id"] == "gpt-6-luna"
    assert models["retrieved"]["object"] == "model"


def test_a_failed_call_has_a_class_a_status_a_code_and_a_request_id(node: Node) -> None:
    errors = node("errors")
    assert {error["code"]: (error["kind"], error["status"]) for error in errors.values()} == {
        "invalid_messages": ("BadRequestError", 400),
        "invalid_api_key": ("AuthenticationError", 401),
        "model_not_found": ("NotFoundError", 404),
        "upstream_error": ("InternalServerError", 502),
        "provider_unavailable": ("InternalServerError", 503),
    }
    assert [error["code"] for error in errors.values()] == list(errors)
    assert all(error["requestID"].startswith("req_") for error in errors.values())
