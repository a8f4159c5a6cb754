"""Calls to a host's REST interface: how long they may take, and which are made a second time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest
from pytest_django import Settings

from common.tests.upstream import JSON, Answer, Call, Upstream
from integrations.safe_http.errors import HostFailed
from integrations.safe_http.rest import Renew, RestClient
from tests.stopwatch import Stopwatch


@pytest.fixture
async def upstream(settings: Settings) -> AsyncIterator[Upstream]:
    """A service that accepts the token "new" alone."""
    settings.OUTBOUND_ALLOWED = ["127.0.0.1"]
    async with Upstream() as upstream:
        upstream.answer = accepting_new(Answer([b"{}"], content_type=JSON))
        yield upstream


def accepting_new(answer: Answer) -> Callable[[Call], Answer]:
    def answers(call: Call) -> Answer:
        is_new = call.headers["authorization"] == "Bearer new"
        return answer if is_new else Answer([b"{}"], status=401, content_type=JSON)

    return answers


def renewing_in(seconds: float) -> Renew:
    def renew(refused: str) -> str:
        time.sleep(seconds)
        return "new"

    return renew


async def write(upstream: Upstream, renew: Renew, *, seconds: float) -> None:
    """A write with a token that has ended."""

    def run() -> None:
        with RestClient(upstream.url, "old", renew=renew) as client:
            client.send("POST", "/x", json={}, seconds=seconds)

    await asyncio.to_thread(run)


async def test_a_refused_token_is_renewed(upstream: Upstream) -> None:
    await write(upstream, renewing_in(0), seconds=10)
    assert [call.headers["authorization"] for call in upstream.calls] == [
        "Bearer old",
        "Bearer new",
    ]


async def test_a_renewal_leaves_what_is_left_of_the_time(upstream: Upstream) -> None:
    upstream.answer = accepting_new(Answer([], delay=30))
    with Stopwatch() as watch, pytest.raises(HostFailed) as failed:
        await write(upstream, renewing_in(0.6), seconds=1)
    assert failed.value.may_be_done
    assert watch.seconds < 1.4


async def test_nothing_is_sent_after_a_renewal_that_took_too_long(upstream: Upstream) -> None:
    with pytest.raises(HostFailed) as failed:
        await write(upstream, renewing_in(0.6), seconds=0.5)
    assert not failed.value.may_be_done
    assert len(upstream.calls) == 1
