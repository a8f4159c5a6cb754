"""A `@sim` line brings out every way in which a provider can behave or fail."""

import json
import time

import httpx
import pytest

from simulator.tests.conftest import Caller, events
from tests.hanging_up import sent


def test_a_text_is_said_word_for_word(caller: Caller) -> None:
    answer = caller.post(caller.body(text="  Zwei  Wörter\nund mehr ")).json()
    assert answer["choices"][0]["message"]["content"] == "  Zwei  Wörter\nund mehr "


def test_the_last_steering_line_of_a_conversation_counts(caller: Caller) -> None:
    body = caller.body()
    body["messages"] = [
        {"role": "user", "content": '@sim {"tokens": 3}'},
        {"role": "assistant", "content": "Well."},
        {"role": "user", "content": '@sim {"tokens": 5}'},
    ]
    assert caller.post(body).json()["usage"]["completion_tokens"] == 5


def test_a_line_for_one_model_steers_no_other(caller: Caller) -> None:
    lines = ['@sim {"tokens": 4}', '@sim {"model": "gpt-6-luna", "tokens": 6}']
    for model, expected in (("gpt-6-luna", 6), ("gpt-6.1-sol", 4)):
        body = {"model": model, "messages": [{"role": "user", "content": "\n".join(lines)}]}
        assert caller.post(body).json()["usage"]["completion_tokens"] == expected


def test_delays_are_kept(caller: Caller) -> None:
    started = time.monotonic()
    caller.post(caller.body(stream=True, tokens=5, ttft_ms=100, delay_ms=20))
    assert time.monotonic() - started >= 0.2


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"tokens": -1}',
        '{"tokens": 100001}',
        '{"delay_ms": 60001}',
        '{"status": 200}',
        '{"no_such_wish": true}',
        '{"hang": true, "drop": true}',
        '{"hang": true, "times": 1}',
    ],
)
def test_a_steering_line_that_cannot_be_followed_is_refused(caller: Caller, line: str) -> None:
    answer = caller.post({"model": "m", "messages": [{"role": "user", "content": f"@sim {line}"}]})
    assert answer.status_code == 400
    assert "@sim" in answer.json()["error"]["message"]


def test_a_failure_before_the_answer_is_an_http_error(caller: Caller) -> None:
    answer = caller.post(caller.body(stream=True, fail="before"))
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "server_error"


def test_a_refusal_can_name_its_code_and_when_to_come_back(caller: Caller) -> None:
    answer = caller.post(caller.body(status=429, code="insufficient_quota", retry_after=7))
    assert answer.headers["retry-after"] == "7"
    assert answer.json()["error"]["code"] == "insufficient_quota"


def test_a_stream_can_be_cut_by_a_reset(caller: Caller) -> None:
    with pytest.raises(httpx.ReadError):
        caller.post(caller.body(stream=True, tokens=9, drop=True, after_tokens=4))
    assert caller.entry()["tokens_emitted"] == 4
    assert caller.entry()["outcome"] == "drop"


def test_a_connection_can_be_cut_before_any_byte(caller: Caller) -> None:
    with pytest.raises(httpx.ReadError):
        caller.post(caller.body(drop=True))
    assert caller.entry()["tokens_emitted"] == 0


@pytest.mark.parametrize("place", [{}, {"after_tokens": 2}])
def test_a_call_can_hang_until_the_caller_leaves(caller: Caller, place: dict[str, int]) -> None:
    tokens = place.get("after_tokens", 0)
    url = caller.simulator.base_url("openai") + "/chat/completions"
    body = caller.body(stream=True, hang=True, **place)
    with sent(caller.http.build_request("POST", url, json=body)):
        running = caller.entry_when(lambda call: call["tokens_emitted"] == tokens)
        assert running["outcome"] == "running"
    left = caller.entry_when(lambda call: call["finished"])
    assert left["outcome"] == "client_gone"
    assert left["tokens_emitted"] == tokens


def test_a_stream_can_end_without_finish_or_done(caller: Caller) -> None:
    answer = caller.post(caller.body(stream=True, tokens=3, truncate=True, delta_tokens=1))
    assert answer.status_code == 200
    assert answer.text.count('"delta":{"content":"') == 3
    assert "[DONE]" not in answer.text
    assert '"finish_reason":"' not in answer.text


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_can_be_broken_json(caller: Caller, stream: bool) -> None:
    answer = caller.post(caller.body(stream=stream, bad_json=True))
    assert answer.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.text.removeprefix("data: ").strip())


def test_an_error_can_hide_in_a_200(caller: Caller) -> None:
    whole = caller.post(caller.body(error_in_200=True))
    streamed = caller.post(caller.body(stream=True, error_in_200=True))
    assert (whole.status_code, streamed.status_code) == (200, 200)
    assert whole.json()["error"]["code"] == "server_error"
    assert streamed.text.startswith('data: {"error":')


@pytest.mark.parametrize(
    ("option", "expected"), [({"no_usage": True}, None), ({"zero_usage": True}, 0)]
)
def test_usage_can_be_missing_or_zero(
    caller: Caller, option: dict[str, bool], expected: int | None
) -> None:
    whole = caller.post(caller.body(**option)).json()
    body = caller.body(stream=True, **option) | {"stream_options": {"include_usage": True}}
    streamed = events(caller.post(body).text)
    for usage in (whole.get("usage"), streamed[-1].get("usage")):
        assert (usage and usage["completion_tokens"]) == expected


def test_events_can_come_with_comments_and_crlf(caller: Caller) -> None:
    answer = caller.post(caller.body(stream=True, tokens=2, comments=True, crlf=True))
    assert answer.text.startswith(": keep-alive\r\n\r\ndata: {")
    assert "\n" not in answer.text.replace("\r\n", "")


def test_a_character_can_be_split_over_two_packets(caller: Caller) -> None:
    body = caller.body(stream=True, text="ä", split=True)
    url = caller.simulator.base_url("openai") + "/chat/completions"
    with caller.http.stream("POST", url, json=body) as answer:
        packets = list(answer.iter_raw())
    assert any(packet.endswith("ä".encode()[:1]) for packet in packets)
    assert "ä" in b"".join(packets).decode()


def test_a_fault_can_befall_only_the_first_calls_of_a_marker(caller: Caller) -> None:
    body = caller.body(status=503, retry_after=1, times=2)
    assert [caller.post(body).status_code for _ in range(4)] == [503, 503, 200, 200]
    assert caller.post(caller.body(status=503)).status_code == 503


def test_a_fault_can_say_which_status_it_stands_for(caller: Caller) -> None:
    answer = caller.post(caller.body(stream=True, fail="after", status=429, code="slow_down"))
    assert answer.status_code == 200
    assert '"type":"rate_limit_error","param":null,"code":"slow_down"' in answer.text


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_can_end_with_any_word(caller: Caller, stream: bool) -> None:
    answer = caller.post(caller.body(stream=stream, finish="network_error"))
    assert '"finish_reason":"network_error"' in answer.text


def test_a_model_can_decline_with_words(caller: Caller) -> None:
    answer = caller.post(caller.body(refusal=True, text="I would rather not.")).json()
    assert answer["choices"][0]["message"]["content"] == "I would rather not."
    assert answer["choices"][0]["finish_reason"] == "content_filter"
    assert answer["usage"]["completion_tokens"] == 4


def test_the_events_of_a_stream_have_different_numbers_of_words(caller: Caller) -> None:
    words: set[int] = set()
    for number in range(20):
        texts = _deltas(caller, text=f"{number} " + "and " * 300)
        assert len("".join(texts).split()) == 301
        words |= {len(text.split()) for text in texts}
    assert {1, 50} <= words <= set(range(51))


def test_the_same_answer_comes_in_the_same_events(caller: Caller) -> None:
    first, second = (_deltas(caller, text="and " * 300) for _ in range(2))
    assert first == second


def test_a_slow_answer_comes_in_small_events(caller: Caller) -> None:
    assert max(len(text.split()) for text in _deltas(caller, tokens=20, delay_ms=50)) <= 4


def _deltas(caller: Caller, **steering: object) -> list[str]:
    answer = caller.post(caller.body(stream=True, **steering)).text
    choices = [choice for chunk in events(answer) for choice in chunk["choices"]]
    return [choice["delta"].get("content") or "" for choice in choices]
