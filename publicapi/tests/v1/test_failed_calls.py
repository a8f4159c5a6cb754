"""Why a call has failed: kept with its charge, in words that quote nobody."""

from typing import Any

import pytest

from ai.catalog.seeds import CHAT_MODELS
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import NOT_CONFIGURED, Customer
from publicapi.tests.v1.errors import refusal


def test_a_call_that_went_well_has_no_failure(alice: Customer) -> None:
    assert alice.chat().status_code == 200
    assert alice.charge().failure is None


@pytest.mark.parametrize(
    ("steering", "kept"),
    [
        (
            {"status": 500},
            {"code": "upstream_error", "status": 500, "reason": "server_error", "attempts": 3},
        ),
        (
            {"status": 401, "code": "invalid_api_key"},
            {
                "code": "upstream_error",
                "status": 401,
                "reason": "invalid_api_key invalid_request_error",
                "attempts": 1,
            },
        ),
        (
            {"status": 429, "code": "insufficient_quota"},
            {
                "code": "upstream_error",
                "status": 429,
                "reason": "insufficient_quota",
                "attempts": 1,
            },
        ),
        ({"drop": True}, {"code": "upstream_error", "attempts": 3}),
        (
            {"blocked": True},
            {
                "code": "content_blocked",
                "status": 400,
                "reason": "content_filter invalid_request_error",
                "attempts": 1,
            },
        ),
    ],
    ids=["500", "401", "quota", "drop", "blocked"],
)
@pytest.mark.parametrize("is_named", [False, True])
def test_the_reason_is_kept_with_the_charge(
    alice: Customer, steering: dict[str, Any], kept: dict[str, Any], is_named: bool
) -> None:
    """Of a call that its client named as well."""
    headers = {"Idempotency-Key": "question"} if is_named else {}
    alice.post(json=alice.body(steer=steering), headers=headers)
    failure = alice.charge().failure
    assert failure is not None
    assert failure.items() >= {"provider": "openai", **kept}.items()
    assert 0 < len(failure["message"]) <= 200


def test_of_an_answer_that_broke_off_too(alice: Customer) -> None:
    alice.chat(stream=True, steer={"tokens": 9, "fail": "after", "after_tokens": 4})
    charge = alice.charge()
    assert charge.status == "settled"
    assert charge.failure is not None
    assert charge.failure["code"] == "upstream_error"


def test_what_was_asked_is_not_in_it(alice: Customer) -> None:
    """A provider may quote the prompt in its refusal."""
    steer = {"status": 400, "code": "invalid_value", "text": "quoted"}
    error = refusal(alice.chat(steer=steer), 400, "invalid_body")
    failure = alice.charge().failure
    assert failure is not None
    assert error["message"] not in str(failure)
    assert failure["reason"] == "invalid_request_error invalid_value"


@pytest.mark.parametrize("call", ["embed", "draw"])
def test_embeddings_and_pictures_keep_it_too(alice: Customer, call: str) -> None:
    getattr(alice, call)(steer={"status": 401})
    failure = alice.charge().failure
    assert failure is not None
    assert (failure["code"], failure["status"]) == ("upstream_error", 401)


@pytest.mark.parametrize("model", [seed.id for seed in CHAT_MODELS if seed.id != NOT_CONFIGURED])
def test_a_prompt_that_moderation_stops_is_told_in_one_way_by_all(
    customer: NewCustomer, model: str
) -> None:
    alice = customer()
    refusal(alice.chat(model=model, steer={"blocked": True}), 400, "content_blocked")
    alice.assert_nothing_billed()
