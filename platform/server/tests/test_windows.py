"""Windows of requests: the one of a process and the one in Redis, beside a list of all times."""

from collections.abc import Iterator
from typing import cast

import pytest
from django.conf import settings
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from redis import Redis

from common.ids import uuid7
from server.rate_limit import SLIDING_WINDOW, SLOTS, Limit, Window

WINDOW = 60  # seconds
MICROSECONDS = 1_000_000
# The script with a clock of the test's.
AT = SLIDING_WINDOW.replace("redis.call('TIME')", "{0, ARGV[3]}")

# Seconds between two requests: within a slot, over several, and longer than the window.
pauses = st.one_of(
    st.just(0.0), st.floats(0.0, 1.5), st.floats(1.5, 20.0), st.floats(55.0, 130.0)
).map(lambda seconds: int(seconds * MICROSECONDS))
arrivals = st.lists(pauses, min_size=1, max_size=60)
requests = st.integers(1, 12)


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    with Redis.from_url(settings.REDIS_URL) as redis:
        yield redis


def times_of(pauses: list[int]) -> list[int]:
    """In microseconds, from any moment on."""
    now, times = 1_700_000_000 * MICROSECONDS, []
    for pause in pauses:
        now += pause
        times.append(now)
    return times


def accepted_by(window: Window, limit: Limit, times: list[int]) -> list[int]:
    return [time for time in times if window.count(limit, time / MICROSECONDS).allowed]


@given(arrivals, requests)
def test_no_sixty_seconds_have_more_than_the_limit(pauses: list[int], limit: int) -> None:
    accepted = accepted_by(Window(), Limit(limit, WINDOW), times_of(pauses))
    for last in accepted:
        assert sum(last - WINDOW * MICROSECONDS < time <= last for time in accepted) <= limit


@given(arrivals, requests)
def test_what_is_refused_would_be_too_much_in_a_slot_more(pauses: list[int], limit: int) -> None:
    times = times_of(pauses)
    accepted = accepted_by(Window(), Limit(limit, WINDOW), times)
    longer = (WINDOW + WINDOW / SLOTS) * MICROSECONDS
    for time in set(times) - set(accepted):
        assert sum(time - longer < earlier <= time for earlier in accepted) >= limit


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrivals, requests)
def test_redis_counts_as_a_process_does(redis: Redis, pauses: list[int], limit: int) -> None:
    window, name = Window(), f"limit:{uuid7()}"
    script = redis.register_script(AT)
    for time in times_of(pauses):
        ours = window.count(Limit(limit, WINDOW), time / MICROSECONDS)
        arguments = [limit, WINDOW * MICROSECONDS, time]
        [[allowed, remaining, wait]] = script(keys=[name], args=arguments)
        assert (ours.allowed, ours.remaining) == (bool(allowed), remaining)
        assert abs(ours.retry_after - wait / MICROSECONDS) <= 1
    redis.delete(name)


def test_a_window_takes_less_than_a_kilobyte_however_high_its_limit(redis: Redis) -> None:
    name, script = f"limit:{uuid7()}", redis.register_script(AT)
    for time in times_of([MICROSECONDS // 20] * 20 * WINDOW):
        script(keys=[name], args=[1_000_000, WINDOW * MICROSECONDS, time])

    assert cast(int, redis.memory_usage(name, samples=0)) < 1024
    redis.delete(name)
