"""The keys of an identity provider: when they are fetched, and what of an answer is believed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from accounts.errors import IdentityProviderUnavailable
from accounts.jwks import PAUSE, PAUSE_WITHOUT_KEYS, REFRESH_AFTER, USABLE_FOR, SigningKeys
from common.tests.upstream import JSON, Answer, Call, Upstream
from simulator.signing_keys import SigningKey
from tests.stopwatch import Stopwatch

KEY = SigningKey.make().public | {"kid": "first"}
NEXT = KEY | {"kid": "next"}


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Provider:
    """A provider on a scripted socket, and what we know of its keys."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.clock = Clock()
        self.keys = SigningKeys(upstream.url, clock=self.clock, timeout=2.0)
        self.serve(KEY)

    def serve(self, *keys: Any) -> None:
        self.answer(json.dumps({"keys": keys}).encode())

    def answer(self, *pieces: bytes | float, **more: Any) -> None:
        self.upstream.answer = Answer(list(pieces), content_type=JSON, **more)

    async def has(self, name: str) -> bool:
        """Is there such a key? Raises IdentityProviderUnavailable."""
        return await asyncio.to_thread(self.keys.find, name) is not None

    @property
    def fetches(self) -> int:
        return len(self.upstream.calls)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Upstream() as upstream:
        yield Provider(upstream)


async def test_keys_are_fetched_once_and_kept(provider: Provider) -> None:
    assert all([await provider.has("first") for _ in range(5)])
    provider.clock.now += REFRESH_AFTER
    assert await provider.has("first")
    assert provider.fetches == 1


async def test_old_keys_are_fetched_again(provider: Provider) -> None:
    assert await provider.has("first")
    provider.serve(NEXT)
    provider.clock.now += REFRESH_AFTER + 1
    assert not await provider.has("first")
    assert await provider.has("next")
    assert provider.fetches == 2


async def test_unknown_names_do_not_make_us_fetch_at_will(provider: Provider) -> None:
    assert await provider.has("first")
    for number in range(20):
        assert not await provider.has(f"unknown {number}")
    assert provider.fetches == 1
    for _ in range(3):
        provider.clock.now += PAUSE
        found = await asyncio.gather(*(provider.has(f"unknown {n}") for n in range(20)))
        assert not any(found)
    assert provider.fetches == 4


async def test_a_new_key_is_found_after_the_pause(provider: Provider) -> None:
    assert await provider.has("first")
    provider.serve(NEXT, KEY)
    assert not await provider.has("next")
    provider.clock.now += PAUSE
    assert await provider.has("next")
    assert await provider.has("first")


async def test_one_thread_fetches_for_all(provider: Provider) -> None:
    provider.answer(json.dumps({"keys": [KEY]}).encode(), delay=0.2)
    assert all(await asyncio.gather(*(provider.has("first") for _ in range(8))))
    assert provider.fetches == 1


async def test_who_has_keys_does_not_wait_for_a_fetch(provider: Provider) -> None:
    assert await provider.has("first")
    provider.clock.now += REFRESH_AFTER + 1
    asked = asyncio.Event()

    def never(call: Call) -> Answer:
        asked.set()
        return Answer(ending="hanging")

    provider.upstream.answer = never
    fetching = asyncio.create_task(provider.has("first"))
    await asked.wait()
    with Stopwatch() as watch:
        assert await provider.has("first")
        assert not await provider.has("unknown")
    assert watch.seconds < 0.3
    assert await fetching
    assert provider.fetches == 2


async def test_old_keys_serve_for_a_while_if_the_provider_is_away(provider: Provider) -> None:
    assert await provider.has("first")
    provider.answer(status=503)
    provider.clock.now += USABLE_FOR
    assert await provider.has("first")
    provider.clock.now += 1
    with pytest.raises(IdentityProviderUnavailable):
        await provider.has("first")


async def test_a_provider_that_is_away_is_not_asked_by_everybody(provider: Provider) -> None:
    provider.answer(status=503)
    for _ in range(5):
        with pytest.raises(IdentityProviderUnavailable) as refused:
            await provider.has("first")
    assert provider.fetches == 1
    assert refused.value.retry_after == PAUSE_WITHOUT_KEYS
    provider.serve(KEY)
    provider.clock.now += PAUSE_WITHOUT_KEYS
    assert await provider.has("first")


async def test_nobody_listens() -> None:
    async with Upstream() as upstream:
        pass
    with pytest.raises(IdentityProviderUnavailable):
        await asyncio.to_thread(SigningKeys(upstream.url).find, "first")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff",
        b"5",
        b"[]",
        b"{}",
        b'{"keys": null}',
        b'{"keys": {}}',
        b'{"keys": [5, null, [], "x", {}]}',
        b"[" * 50_000,
        json.dumps({"keys": [KEY], "x": "x" * 70_000}).encode(),
    ],
)
async def test_an_answer_without_keys_is_none(provider: Provider, body: bytes) -> None:
    provider.answer(body)
    with pytest.raises(IdentityProviderUnavailable):
        await provider.has("first")


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 302, "headers": {"Location": "/v1"}},
        {"status": 404},
        {"ending": "broken"},
        {"ending": "hanging"},
        {"delay": 5.0},
    ],
)
async def test_a_broken_answer_is_none(provider: Provider, answer: dict[str, Any]) -> None:
    provider.answer(json.dumps({"keys": [KEY]}).encode(), **answer)
    began = time.monotonic()
    with pytest.raises(IdentityProviderUnavailable):
        await provider.has("first")
    assert time.monotonic() - began < 4
    assert provider.fetches == 1


async def test_an_answer_that_drips_is_given_up(provider: Provider) -> None:
    drops: list[bytes | float] = [b" ", 0.1]
    provider.answer(*drops * 50, json.dumps({"keys": [KEY]}).encode())
    began = time.monotonic()
    with pytest.raises(IdentityProviderUnavailable):
        await provider.has("first")
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    "odd",
    [
        {"use": "enc"},
        {"use": ["sig"]},
        {"alg": "RS512"},
        {"alg": "HS256"},
        {"alg": ["RS256"]},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": ["RSA"]},
        {"kid": None},
        {"kid": 5},
        {"kid": ["odd"]},
        {"n": None},
        {"n": 5},
        {"n": ""},
        {"n": "é"},
        {"e": "AA"},
        {"e": {}},
    ],
)
async def test_a_key_of_another_kind_is_passed_over(
    provider: Provider, odd: dict[str, Any]
) -> None:
    provider.serve(KEY | {"kid": "odd"} | odd, KEY)
    assert not await provider.has("odd")
    assert await provider.has("first")
