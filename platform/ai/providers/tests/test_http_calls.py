"""When a provider wants to be left alone for a while, and what else it says of a second try."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from ai.providers.errors import UpstreamError
from ai.providers.http_calls import retry_after
from ai.providers.openai_compatible import OpenAICompatible
from common.tests.upstream import JSON, Answer, Upstream

from .calls import events_and_failure


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 99 Oct 99999 07:28:00 GMT"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "soon"}, None),
    ],
)
def test_seconds_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_so_many_seconds_from_now() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    seconds = retry_after({"retry-after": date})
    assert seconds is not None
    assert 55 < seconds <= 60


async def test_a_provider_that_wants_no_second_try_gets_none(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([b"{}"], 503, JSON, headers={"x-should-retry": "false"})
    _, failure = await events_and_failure(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
