"""A provider that fails in passing is called again before anybody is told."""

from collections.abc import Iterator
from itertools import chain, repeat

import pytest
from pytest_django import DjangoDbBlocker

from providers.tests import chunks
from providers.tests.upstream import Answer, Upstream
from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import Customer, new_customer
from publicapi.tests.v1.refusals import refusal
from publicapi.tests.v1.scripted import running_upstream
from simulator.process import RunningSimulator
from tests.service import Web, running_web

HELLO = [chunks.text("Hel"), chunks.text("lo"), chunks.finish(usage=chunks.usage()), chunks.DONE]
SOUND = Answer(pieces=[*HELLO])


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with running_upstream() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def web(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    upstream: Upstream,
) -> Iterator[Web]:
    with django_db_blocker.unblock(), running_web(simulator, SIMULATOR_URL=upstream.url) as web:
        yield web


@pytest.fixture
def alice(
    committed: None, web: Web, upstream: Upstream, simulator: RunningSimulator
) -> Iterator[Customer]:
    upstream.calls.clear()
    with wire.client(web.url) as http:
        yield new_customer(http, web, simulator)


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


def test_nobody_is_kept_waiting_for_long(alice: Customer, upstream: Upstream) -> None:
    answer_in_turn(upstream, failing(429, retry_after="60"), SOUND)

    response = alice.chat(stream=True)

    refusal(response, 502, "upstream_error")
    assert response.elapsed.total_seconds() < 5
    assert len(upstream.calls) == 1
