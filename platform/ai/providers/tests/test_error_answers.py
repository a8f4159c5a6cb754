"""Error bodies of every vendor, each as the one of our errors that it stands for."""

import json
from typing import Any

import pytest

from ai.providers.error_answers import error_from
from ai.providers.errors import ProviderError, ProviderUnavailable, RequestRefused, UpstreamError


def explained(status: int, body: object) -> ProviderError:
    return error_from(status, json.dumps(body).encode())


def gemini(code: int, status: str, *details: dict[str, Any], message: str = "No.") -> object:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def anthropic(kind: str, message: str = "No.", **fields: Any) -> object:
    return {"type": "error", "error": {"type": kind, "message": message, **fields}}


QUOTA_PER_DAY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
QUOTA_PER_MINUTE = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}],
}
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}
KEY_INVALID = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}),
        (429, {"error": {"type": "insufficient_quota", "code": "credit_balance_exhausted"}}),
        (402, {"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}}),
        (429, {"error": {"message": "No.", "type": "exceeded_current_quota_error"}}),
        (429, {"error": {"code": "1113", "message": "Recharge, please."}}),
        (400, {"error": {"code": "1002", "message": "Authorization Token illegal"}}),
        (429, {"error": {"code": "1308", "message": "Usage limit reached"}}),
        (400, {"error": {"code": "Arrearage", "message": "Access denied."}}),
        (200, {"error": {"code": 402, "message": "Insufficient credits"}}),
        (400, {"code": "invalid-argument", "error": "Incorrect API key provided: xa***rt."}),
        (401, anthropic("authentication_error")),
        (402, anthropic("billing_error")),
        (403, anthropic("permission_error")),
        (404, anthropic("not_found_error")),
        (200, anthropic("authentication_error")),
        (400, anthropic("invalid_request_error", "Your credit balance is too low.")),
        (
            429,
            anthropic("rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
        ),
        (400, gemini(400, "INVALID_ARGUMENT", KEY_INVALID)),
        (400, gemini(400, "FAILED_PRECONDITION", message="User location is not supported.")),
        (403, gemini(403, "PERMISSION_DENIED")),
        (404, gemini(404, "NOT_FOUND")),
        (429, gemini(429, "RESOURCE_EXHAUSTED", QUOTA_PER_DAY, RETRY_INFO)),
        (200, gemini(403, "PERMISSION_DENIED")),
    ],
)
def test_what_is_ours_to_mend_makes_the_provider_unavailable(status: int, body: object) -> None:
    assert isinstance(explained(status, body), ProviderUnavailable)


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (401, {"error": {"message": "No.", "code": "invalid_api_key"}}, "key"),
        (403, anthropic("permission_error"), "key"),
        (400, gemini(400, "INVALID_ARGUMENT", KEY_INVALID), "key"),
        (400, {"error": {"code": "1002", "message": "Authorization Token illegal"}}, "key"),
        (
            429,
            {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}},
            "quota",
        ),
        (402, {}, "quota"),
        (403, {"error": {"code": "insufficient_balance"}}, "quota"),
        (400, anthropic("invalid_request_error", "Your credit balance is too low."), "quota"),
        (429, gemini(429, "RESOURCE_EXHAUSTED", QUOTA_PER_DAY, RETRY_INFO), "quota"),
        (404, anthropic("not_found_error"), "model"),
        (410, {}, "model"),
    ],
)
def test_an_operator_is_told_what_to_look_after(status: int, body: object, fault: str) -> None:
    error = explained(status, body)
    assert isinstance(error, ProviderUnavailable)
    assert error.fault == fault
    assert error.status == status


@pytest.mark.parametrize("quoted", ["invalid API key", "your credit balance", "enough credits"])
def test_a_request_that_is_quoted_is_no_fault_of_our_account(quoted: str) -> None:
    message = f"Invalid value: '{quoted}'. Supported values are: 'auto' and 'none'."
    error = explained(400, {"error": {"message": message, "type": "invalid_request_error"}})
    assert isinstance(error, RequestRefused)


def test_tripo_s_numbers_are_not_z_ai_s() -> None:
    theirs = explained(400, {"error": {"code": "1003", "message": "Authorization expired"}})
    tripo_s = explained(400, {"code": 1003, "message": "Malformed.", "suggestion": "Mend it."})
    assert isinstance(theirs, ProviderUnavailable)
    assert isinstance(tripo_s, RequestRefused)
    assert tripo_s.codes == ("tripo_1003",)


def test_the_words_of_a_provider_are_kept_beside_its_status() -> None:
    body = {"error": {"message": "No.", "type": "insufficient_quota", "code": "insufficient_quota"}}
    error = explained(429, body)
    assert (error.status, error.codes) == (429, ("insufficient_quota",))
    late = explained(200, anthropic("overloaded_error"))
    assert (late.status, late.codes) == (None, ("overloaded_error",))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}),
        (503, {"error": {"type": "service_unavailable_error", "code": "server_is_overloaded"}}),
        (429, {"error": {"message": "Busy", "type": "engine_overloaded_error"}}),
        (429, {"error": {"code": "1302", "message": "High concurrency"}}),
        (200, {"error": {"code": "1305", "message": "Too many users"}}),
        (498, {"error": {"message": "Capacity exceeded", "code": "capacity_exceeded"}}),
        (408, {}),
        (409, {}),
        (425, {}),
        (200, {"code": "unavailable", "error": "Service is currently unavailable"}),
        (200, {"error": {"code": 502, "message": "Upstream error", "metadata": {}}}),
        (529, anthropic("overloaded_error")),
        (200, anthropic("overloaded_error")),
        (429, anthropic("rate_limit_error")),
        (504, anthropic("timeout_error")),
        (429, gemini(429, "RESOURCE_EXHAUSTED", QUOTA_PER_MINUTE)),
        (503, gemini(503, "UNAVAILABLE")),
        (500, [gemini(500, "INTERNAL")]),
    ],
)
def test_what_passes_may_be_tried_again(status: int, body: object) -> None:
    error = explained(status, body)
    assert isinstance(error, UpstreamError)
    assert error.retryable


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "context_length_exceeded"}}),
        (400, {"error": {"type": "exceed_context_size_error", "code": 400}}),
        (400, {"error": {"code": "1261", "message": "Prompt too long"}}),
        (413, {"error": {"message": "Request too large", "code": "rate_limit_exceeded"}}),
        (400, {"object": "error", "message": "This model's maximum context length is 8192 tokens"}),
        (400, {"code": "c", "error": "This model's maximum prompt length is 131072"}),
        (400, {"error": {"message": "Your request exceeded model token limit: 8192"}}),
        (400, {"error": {"message": "Range of input length should be [1, 30720]"}}),
        (400, anthropic("invalid_request_error", "prompt is too long: 210000 > 200000")),
        (413, "<html>Request Entity Too Large</html>"),
        (200, anthropic("request_too_large")),
        (
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                message="The input token count (1200000) exceeds the maximum number of tokens.",
            ),
        ),
    ],
)
def test_a_prompt_that_is_too_long_is_told_apart(status: int, body: object) -> None:
    error = explained(status, body)
    assert isinstance(error, RequestRefused)
    assert error.too_long


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "content_policy_violation", "message": "No."}}),
        (400, {"error": {"code": "moderation_blocked", "message": "No."}}),
        (400, {"error": {"code": "data_inspection_failed", "message": "No."}}),
        (400, {"error": {"code": "1301", "message": "Sensitive."}}),
        (400, {"code": 2008, "message": "No.", "suggestion": "Try another."}),
        (400, anthropic("invalid_request_error", "Output blocked by content filtering policy")),
        (200, anthropic("invalid_request_error", "Output blocked by content filtering policy")),
        (
            400,
            {
                "error": {
                    "code": "invalid_prompt",
                    "message": "Invalid prompt: your prompt was flagged as potentially violating "
                    "our usage policy.",
                }
            },
        ),
        (
            400,
            {"error": {"message": "The prompt triggers Azure OpenAI's content management policy."}},
        ),
        (403, {"code": "permission-denied", "error": "Content violates usage guidelines."}),
        (
            403,
            {
                "error": {
                    "code": 403,
                    "message": "Flagged.",
                    "metadata": {"reasons": ["violence"], "flagged_input": "..."},
                }
            },
        ),
    ],
)
def test_moderation_is_told_apart(status: int, body: object) -> None:
    error = explained(status, body)
    assert isinstance(error, RequestRefused)
    assert error.blocked


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "No emoji.", "type": "invalid_request_error"}}),
        (400, anthropic("invalid_request_error", "No emoji.")),
        (400, gemini(400, "INVALID_ARGUMENT", message="No emoji.")),
        (400, [gemini(400, "INVALID_ARGUMENT", message="No emoji.")]),
        (200, {"error": {"code": 400, "message": "No emoji."}}),
    ],
)
def test_what_the_caller_can_mend_is_passed_on(status: int, body: object) -> None:
    error = explained(status, body)
    assert isinstance(error, RequestRefused)
    assert str(error) == "No emoji."
    assert not error.too_long
    assert not error.blocked


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        ("34.4s", 34.4),
        ("0s", 0.0),
        ("34", None),
        ("-1s", None),
        ("9" * 400 + "s", None),
        (7, None),
        (None, None),
    ],
)
def test_google_tells_in_the_body_when_to_come_back(delay: object, seconds: float | None) -> None:
    error = explained(503, gemini(503, "UNAVAILABLE", {"retryDelay": delay}))
    assert isinstance(error, UpstreamError)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"details": 7, "metadata": [1, {"violations": {"quotaId": []}}]}},
        {"error": {"details": [None, "x", {"violations": [None, {"quotaId": None}]}]}},
        {"error": {"code": True, "type": None, "status": {}}},
        {"error": {"code": 10**30}},
        [],
        [[]],
    ],
)
def test_no_form_of_an_error_body_is_a_surprise(body: object) -> None:
    for status in (200, 400, 401, 500):
        explained(status, body)


def test_the_status_of_a_failure_is_kept() -> None:
    for status in (503, 302):
        error = explained(status, {})
        assert isinstance(error, UpstreamError)
        assert error.status == status
