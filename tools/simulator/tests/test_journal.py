"""The journal tells what was asked and what was emitted, however the call ended."""

import time
from uuid import uuid4

import httpx
import pytest

from simulator import process
from simulator.tests.conftest import Caller


def test_a_call_is_told_with_all_that_a_witness_needs(caller: Caller) -> None:
    before = time.time()
    caller.http.headers["x-trace"] = "t-1"
    caller.post(caller.body(stream=True, tokens=11) | {"max_completion_tokens": 50})
    entry = caller.entry()
    assert entry["provider"] == "openai"
    assert entry["path"] == "/openai/v1/chat/completions"
    assert entry["model"] == "gpt-6-luna"
    assert entry["stream"] is True
    assert entry["max_tokens"] == 50
    assert entry["prompt_tokens"] == len(caller.prompt(tokens=11).split()) + 4
    assert entry["completion_tokens"] == entry["tokens_emitted"] == 11
    assert entry["outcome"] == "completed"
    assert entry["finished"] is True
    assert entry["user_text"].startswith("Name a city.")
    assert before <= entry["started_at"] <= entry["ended_at"]


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "x-goog-api-key", "x-key"])
def test_no_credential_is_kept(caller: Caller, header: str) -> None:
    caller.http.headers[header] = "Bearer alice"
    caller.post(caller.body())
    assert header not in caller.entry()["headers"]
    assert "alice" not in str(caller.entry())


def test_a_running_call_shows_how_far_it_has_come(caller: Caller) -> None:
    url = caller.simulator.base_url("openai") + "/chat/completions"
    body = caller.body(stream=True, tokens=4, hang=True, after_tokens=3, delta_tokens=1)
    with caller.http.stream("POST", url, json=body) as answer:
        lines = (line for line in answer.iter_lines() if '"content":"' in line)
        for _ in range(4):  # the role and three words
            next(lines)
        entry = caller.entry()
    assert entry["outcome"] == "running"
    assert entry["finished"] is False
    assert entry["tokens_emitted"] == 3


def test_a_caller_who_leaves_ends_the_call(caller: Caller) -> None:
    url = caller.simulator.base_url("openai") + "/chat/completions"
    with caller.http.stream("POST", url, json=caller.body(stream=True, tokens=1000, delay_ms=20)):
        pass
    entry = caller.entry_when(lambda call: call["finished"])
    assert entry["outcome"] == "client_gone"
    assert entry["client_gone"] is True
    assert entry["tokens_emitted"] < entry["completion_tokens"] == 1000


def test_refused_calls_are_told_too(caller: Caller) -> None:
    caller.post(caller.body(status=503))
    assert caller.entry()["outcome"] == "refused"
    assert caller.entry()["tokens_emitted"] == 0


def test_the_journal_keeps_only_the_last_calls() -> None:
    with process.running("--journal-limit", "3") as simulator:
        url = simulator.base_url("local") + "/chat/completions"
        for number in range(5):
            message = {"role": "user", "content": f"call {number}"}
            httpx.post(url, json={"model": "m", "messages": [message]})
        questions = [call["user_text"] for call in simulator.calls()]
        assert questions == ["call 2", "call 3", "call 4"]
        assert simulator.calls(marker=uuid4().hex) == []
        simulator.clear()
        assert simulator.calls() == []
