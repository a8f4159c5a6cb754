"""Which failures count against a provider."""

import pytest

from ai.provider_health.outcomes import Outcome, outcome_of
from ai.providers.error_answers import error_from
from ai.providers.errors import (
    AnswerTooLate,
    NoPicture,
    NothingMade,
    ProviderError,
    UpstreamError,
)
from ai.providers.http_calls import broken
from common.http import ConnectFailed, TransportError


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b'{"error": {"message": "The value is wrong.", "code": "invalid_value"}}'),
        (400, b'{"error": {"message": "Too long.", "code": "context_length_exceeded"}}'),
        (413, b"{}"),
        (422, b"{}"),
        (400, b'{"error": {"code": "content_policy_violation"}}'),
        # Moderation with the status of a refused key.
        (403, b'{"error": {"message": "Content violates usage guidelines.", "code": 403}}'),
        (403, b'{"error": {"code": 403, "metadata": {"flagged_input": "..."}}}'),
        (200, b'{"error": {"type": "invalid_request_error", "message": "No."}}'),
    ],
)
def test_what_is_wrong_with_a_request_is_never_the_providers_failure(
    status: int, body: bytes
) -> None:
    assert outcome_of(error_from(status, body)) == Outcome("refused")


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, b"{}", "key"),
        (400, b'{"error": {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}}', "key"),
        (402, b'{"error": {"code": "insufficient_balance"}}', "quota"),
        (429, b'{"error": {"code": "insufficient_quota"}}', "quota"),
    ],
)
def test_what_our_account_lacks_is_a_fault_whoever_calls(
    status: int, body: bytes, code: str
) -> None:
    outcome = outcome_of(error_from(status, body))
    assert outcome == Outcome(code, is_failure=True, is_fault=True)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        # A firewall in front of the provider, which reads the request.
        (403, b"<html>Blocked</html>", "key"),
        (403, b"{}", "key"),
        # A request that is too large for what is left: OpenRouter's words, and Gemini's quota.
        (402, b'{"error": {"code": 402, "message": "Fewer max_tokens, please."}}', "quota"),
        (
            429,
            b'{"error": {"details": [{"violations": [{"quotaId": "TokensPerDay"}]}]}}',
            "quota",
        ),
        # A file that the request names.
        (404, b"{}", "model"),
    ],
)
def test_what_the_content_or_size_of_a_request_can_cause_is_no_fault(
    status: int, body: bytes, code: str
) -> None:
    assert outcome_of(error_from(status, body)) == Outcome(code, is_failure=True)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 529])
def test_a_fault_of_the_provider_counts(status: int) -> None:
    assert outcome_of(error_from(status, b"")) == Outcome(str(status), is_failure=True)


def caused(error: TransportError) -> ProviderError:
    failure = broken(error)
    failure.__cause__ = error
    return failure


def test_a_connection_that_fails_counts() -> None:
    connect = Outcome("connect", is_failure=True, is_fault=True)
    assert outcome_of(caused(ConnectFailed("x"))) == connect
    assert outcome_of(caused(TransportError("x"))) == Outcome("connection", is_failure=True)
    assert outcome_of(UpstreamError("The answer broke off.")) == Outcome("broken", is_failure=True)


def test_a_timeout_counts_if_the_provider_had_its_time() -> None:
    assert outcome_of(AnswerTooLate()) == Outcome("timeout", is_failure=True)
    assert outcome_of(AnswerTooLate(), was_patient=False) == Outcome("timeout")


@pytest.mark.parametrize("status", [409, 425, 429, 498])
def test_a_provider_that_asks_for_patience_has_not_failed(status: int) -> None:
    assert outcome_of(error_from(status, b"")) == Outcome(str(status))


def test_a_limit_that_is_named_in_a_stream_is_one_too() -> None:
    body = b'{"error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "Slow down."}}'
    assert outcome_of(error_from(200, body)) == Outcome("429")


def test_a_verdict_on_one_order_says_nothing_of_the_provider() -> None:
    assert outcome_of(NothingMade()) == Outcome("no_result")
    assert outcome_of(NoPicture()) == Outcome("no_result")
