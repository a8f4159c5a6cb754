"""POST /v1/chat/completions, not streamed: the answer, and what goes upstream."""

import re
import time

import pytest

from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.errors import RATE_HEADERS


def test_the_answer_has_the_shape_that_clients_know(alice: Customer) -> None:
    before = int(time.time())
    response = alice.chat(steer={"text": "Fine, thank you."})

    assert response.status_code == 200
    answer = response.json()
    assert re.fullmatch(r"chatcmpl-[0-9a-f]{32}", answer.pop("id"))
    assert before <= answer.pop("created") <= time.time()
    prompt_tokens = alice.provider_call()["prompt_tokens"]
    assert answer == {
        "object": "chat.completion",
        "model": IN_PLAN,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Fine, thank you.", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": 3,
            "total_tokens": prompt_tokens + 3,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def test_the_headers_name_the_request_and_the_rate(alice: Customer) -> None:
    first, second = alice.chat(), alice.chat()
    assert first.headers["content-type"] == "application/json"
    assert re.fullmatch(r"req_[0-9a-f]{32}", first.headers["x-request-id"])
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    rates = [[int(response.headers[name]) for name in RATE_HEADERS] for response in (first, second)]
    assert rates == [[120, 119, 60], [120, 118, 60]]


def test_the_request_id_leads_to_the_charge(alice: Customer) -> None:
    response = alice.chat()
    charge = alice.charge()
    assert charge.request_id == response.headers["x-request-id"]
    assert response.json()["id"] == f"chatcmpl-{charge.id.hex}"


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_bound_goes_upstream_and_ends_the_answer(
    alice: Customer, name: str, stream: bool
) -> None:
    response = alice.chat(steer={"tokens": 50}, stream=stream, **{name: 7})
    assert '"finish_reason":"length"' in response.text
    assert '"completion_tokens":7' in response.text
    call = alice.provider_call()
    assert (call["max_tokens"], call["tokens_emitted"]) == (7, 7)
    assert alice.charge().tokens_out == 7


def test_the_newer_name_of_the_bound_wins(alice: Customer) -> None:
    alice.chat(max_tokens=5, max_completion_tokens=7)
    assert alice.provider_call()["max_tokens"] == 7


def test_characters_of_every_script_go_both_ways(alice: Customer) -> None:
    said = 'Grüße 你好 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2028 "\\\n\t</script> é'
    response = alice.chat(steer={"text": said})
    assert response.json()["choices"][0]["message"]["content"] == said
    alice.chat(messages=[{"role": "user", "content": alice.prompt(said.replace("\n", " "))}])
    assert said.replace("\n", " ") in alice.provider_calls()[1]["user_text"]


def test_reasoning_is_passed_on_apart_and_counted(alice: Customer) -> None:
    response = alice.chat(model="deepseek-v4-pro", steer={"tokens": 2, "reasoning_tokens": 4})
    message = response.json()["choices"][0]["message"]
    assert message["reasoning_content"] == "The question is read,"
    assert "The question" not in message["content"]
    usage = response.json()["usage"]
    assert usage["completion_tokens"] == 6
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 4}


def test_hidden_reasoning_is_counted_too(alice: Customer) -> None:
    response = alice.chat(steer={"tokens": 2, "reasoning_tokens": 4})
    assert "reasoning_content" not in response.json()["choices"][0]["message"]
    assert response.json()["usage"]["completion_tokens"] == 6
    assert alice.charge().reasoning_tokens == 4


def test_a_provider_that_counts_reasoning_apart_is_billed_for_it(alice: Customer) -> None:
    response = alice.chat(model="grok-4.7", steer={"tokens": 2, "reasoning_tokens": 4})
    assert response.json()["usage"]["completion_tokens"] == 6
    assert alice.charge().tokens_out == 6


def test_a_legacy_alias_is_answered_and_billed_as_its_current_model(alice: Customer) -> None:
    response = alice.chat(model="gpt-4o-mini")
    assert response.json()["model"] == "gpt-6-luna"
    assert alice.provider_call()["model"] == "gpt-6-luna"
    charge = alice.charge()
    assert charge.model_id == "gpt-6-luna"
    assert charge.cost == alice.listed_cost("gpt-6-luna", charge.tokens_in, charge.tokens_out)


def test_a_model_is_called_by_its_providers_name_for_it(alice: Customer) -> None:
    response = alice.chat(model="gpt-oss-120b")
    assert response.json()["model"] == "gpt-oss-120b"
    assert alice.provider_call()["model"] == "openai/gpt-oss-120b"


def test_our_key_for_the_provider_is_not_the_customers(alice: Customer) -> None:
    alice.chat()
    assert alice.raw_key not in str(alice.provider_call())
