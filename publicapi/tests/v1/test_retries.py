"""A provider that fails in passing is called again before anybody is told."""

from itertools import chain, repeat

import pytest

from ai.providers.tests import chunks
from common.tests.upstream import Answer, Upstream
from publicapi.tests.v1.customer import Customer
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.scripted import HELLO, Scripted

SOUND = Answer(pieces=[*HELLO])


@pytest.fixture
def alice(committed: None, scripted: Scripted, upstream: Upstream) -> Customer:
    return scripted.new_customer()


def answer_in_turn(upstream: Upstream, *answers: Answer) -> None:
    """One answer for each call; the last for all that follow."""
    coming = chain(answers[:-1], repeat(answers[-1]))
    upstream.answer = lambda _call: next(coming)


def failing(status: int, **headers: str) -> Answer:
    body = b'{"error": {"message": "Not now.", "type": "server_error", "code": null}}'
    return Answer(
        [body], status, "application/json", {k.replace("_", "-"): v for k, v in headers.items()}
    )


@pytest.mark.parametrize(
    "passing", [failing(500), failing(503), failing(429), Answer(ending="broken")]
)
def test_a_failure_in_passing_is_not_seen(
    alice: Customer, upstream: Upstream, passing: Answer
) -> None:
    answer_in_turn(upstream, passing, SOUND)

    response = alice.chat(stream=True)

    assert response.status_code == 200
    assert response.text.endswith("data: [DONE]\n\n")
    assert len(upstream.calls) == 2
    assert alice.charge().status == "settled"


def test_a_failure_that_stays_is_told_after_three_attempts(
    alice: Customer, upstream: Upstream
) -> None:
    answer_in_turn(upstream, failing(500))

    refusal(alice.chat(stream=True), 502, "upstream_error")

    assert len(upstream.calls) == 3
    alice.assert_nothing_billed()


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_failure_that_a_retry_cannot_mend_is_told_at_once(
    alice: Customer, upstream: Upstream, status: int
) -> None:
    answer_in_turn(upstream, failing(status))

    assert alice.chat(stream=True).status_code in (400, 502, 503)

    assert len(upstream.calls) == 1


def test_after_the_first_word_nothing_is_tried_again(alice: Customer, upstream: Upstream) -> None:
    answer_in_turn(upstream, Answer([chunks.text("Hel")], ending="broken"), SOUND)

    response = alice.chat(stream=True)

    assert '"code":"upstream_error"' in response.text
    assert len(upstream.calls) == 1
    assert alice.charge().tokens_out == 1


def test_a_provider_that_names_a_time_is_given_it(alice: Customer, upstream: Upstream) -> None:
    answer_in_turn(upstream, failing(429, retry_after="1"), SOUND)

    response = alice.chat(stream=True)

    assert response.status_code == 200
    assert response.elapsed.total_seconds() >= 1


def test_a_provider_that_asks_again_to_wait_is_left_to_the_caller(
    alice: Customer, upstream: Upstream
) -> None:
    """The sum of such waits is what a client would have to bear with each of its own retries."""
    answer_in_turn(upstream, *[failing(429, retry_after="2")] * 2, SOUND)

    response = alice.chat(stream=True)

    refusal(response, 502, "upstream_error")
    assert response.headers["retry-after"] == "2"
    assert 2 <= response.elapsed.total_seconds() < 3.5
    assert len(upstream.calls) == 2


def test_nobody_is_kept_waiting_for_long(alice: Customer, upstream: Upstream) -> None:
    answer_in_turn(upstream, failing(429, retry_after="60"), SOUND)

    response = alice.chat(stream=True)

    refusal(response, 502, "upstream_error")
    assert response.elapsed.total_seconds() < 5
    assert len(upstream.calls) == 1
