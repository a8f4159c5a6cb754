"""Several keys of one provider: the next one is used where one is refused, and only there."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from ai.providers import keys
from ai.providers.config import ProviderConfig, from_environ
from ai.providers.errors import ProviderUnavailable, UpstreamError
from ai.providers.keys import KeyRests, Rest, keys_of
from ai.providers.media import VideoOrder
from ai.providers.operations import Accepted, Pending, Succeeded, Unknown
from ai.providers.registry import (
    aclose,
    get_chat_wire,
    get_embedding_wire,
    get_keys,
    get_video_wire,
)
from ai.providers.types import ChatRequest, ChatWire, Deadlines, EmbeddingRequest, Message
from simulator.process import RunningSimulator

from .calls import AMPLE, events_and_failure, events_of, text_of

NONE: frozenset[str] = frozenset()


class Keys:
    """A provider with two keys at the simulator."""

    def __init__(self, provider: str, simulator: RunningSimulator) -> None:
        self.simulator = simulator
        self.provider = provider
        self.first, self.second = f"first-{uuid4().hex}", f"second-{uuid4().hex}"
        self.marker = uuid4().hex

    def configured(self) -> dict[str, ProviderConfig]:
        name = self.provider.upper()
        at_simulator = from_environ(
            {}, simulated=frozenset({self.provider}), simulator_url=self.simulator.url
        )
        environ = {
            f"{name}_API_KEY": f"{self.first}, {self.second}",
            f"{name}_BASE_URL": at_simulator[self.provider].base_url,
        }
        return from_environ(environ, simulated=NONE, simulator_url="")

    def used(self) -> list[str]:
        """Which keys the calls of this test came with, in their order."""
        names = {
            key.fingerprint: name
            for key, name in zip(get_keys(self.provider), ("first", "second"), strict=True)
        }
        return [names[call["key"]] for call in self.simulator.calls() if call["key"] in names]


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> KeyRests:
    """The rests of a process that has just started."""
    fresh = KeyRests()
    monkeypatch.setattr("ai.providers.rotation.key_rests", fresh)
    return fresh


def configured(name: str, simulator: RunningSimulator, settings: Settings) -> Keys:
    two = Keys(name, simulator)
    settings.PROVIDERS = two.configured()
    return two


@pytest.fixture
async def openai(
    simulator: RunningSimulator, settings: Settings, rests: KeyRests
) -> AsyncIterator[Keys]:
    yield configured("openai", simulator, settings)
    simulator.revive_keys()
    await aclose()


@pytest.fixture
async def runway(
    simulator: RunningSimulator, settings: Settings, rests: KeyRests
) -> AsyncIterator[Keys]:
    yield configured("runway", simulator, settings)
    simulator.revive_keys()
    await aclose()


def chat(**steering: Any) -> tuple[ChatWire, ChatRequest]:
    wire = get_chat_wire("openai")
    assert wire is not None
    text = f"Name a city.\n@sim {json.dumps(steering)}"
    return wire, ChatRequest("gpt-6-luna", (Message("user", text),), 50, None)


async def test_the_first_key_is_used_while_it_works(openai: Keys) -> None:
    wire, request = chat(text="Oslo")
    assert text_of(await events_of(wire, request)) == "Oslo"
    assert text_of(await wire.complete(request, AMPLE)) == "Oslo"
    assert openai.used() == ["first", "first"]


@pytest.mark.parametrize(
    ("status", "code"), [(401, None), (403, None), (402, None), (429, "insufficient_quota")]
)
async def test_the_next_key_is_used_for_a_dead_one_which_rests_from_then_on(
    openai: Keys, status: int, code: str | None
) -> None:
    openai.simulator.let_key_die(openai.first, status=status, code=code)
    wire, request = chat(text="Oslo")
    assert text_of(await events_of(wire, request)) == "Oslo"
    assert text_of(await wire.complete(request, AMPLE)) == "Oslo"
    assert openai.used() == ["first", "second", "second"]


async def test_every_interface_uses_the_next_key(openai: Keys) -> None:
    openai.simulator.let_key_die(openai.first)
    wire = get_embedding_wire("openai")
    assert wire is not None
    request = EmbeddingRequest("text-embedding-3-small", ("sea",), None)
    assert (await wire.embed(request, Deadlines(total=30.0))).vectors
    assert openai.used() == ["first", "second"]


async def test_a_key_that_only_asks_for_patience_does_not_rest(openai: Keys) -> None:
    openai.simulator.let_key_die(openai.first, status=429)
    wire, request = chat()
    with pytest.raises(UpstreamError):
        await wire.complete(request, AMPLE)
    assert openai.used() == ["first"]


async def test_a_refusal_in_an_answer_that_was_accepted_is_not_repeated(openai: Keys) -> None:
    wire, request = chat(
        tokens=5, error_in_200=True, after_tokens=2, status=429, code="insufficient_quota"
    )
    assert isinstance((await events_and_failure(wire, call=request))[1], ProviderUnavailable)
    assert openai.used() == ["first"]


async def test_with_all_keys_dead_one_is_tried_and_its_refusal_told(openai: Keys) -> None:
    openai.simulator.let_key_die(openai.first, status=402)
    openai.simulator.let_key_die(openai.second, status=401)
    wire, request = chat()
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            await wire.complete(request, AMPLE)
    # The quota comes back sooner than a key that was revoked.
    assert openai.used() == ["first", "second", "first"]


async def test_a_key_that_works_again_rests_no_more(openai: Keys, rests: KeyRests) -> None:
    for key in (openai.first, openai.second):
        openai.simulator.let_key_die(key)
    wire, request = chat(text="Oslo")
    with pytest.raises(ProviderUnavailable):
        await wire.complete(request, AMPLE)
    openai.simulator.revive_keys()
    await wire.complete(request, AMPLE)
    first, second = get_keys("openai")
    assert (rests.rest_of(first), rests.rest_of(second) is None) == (None, False)


async def test_an_operation_is_looked_up_with_each_key(runway: Keys, rests: KeyRests) -> None:
    """It was submitted with a key that rests by now, and the provider's answer to the other one is
    no answer about it."""
    wire = get_video_wire("runway")
    assert wire is not None
    order = VideoOrder(
        model="gen4.5", prompt="Sea", seconds=5, aspect_ratio="16:9", resolution="720p"
    )
    accepted = await wire.submit(order, uuid4().hex, seconds=10.0)
    assert isinstance(accepted, Accepted)
    rests.rest(get_keys("runway")[0], "quota")
    runway.simulator.let_key_die(runway.second)
    state = await wire.poll(accepted.id, seconds=10.0)
    assert isinstance(state, Pending | Succeeded)
    with pytest.raises(ProviderUnavailable):
        await wire.poll("unknown", seconds=10.0)
    runway.simulator.revive_keys()
    assert await wire.poll("unknown", seconds=10.0) == Unknown()


@pytest.fixture
def hour(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that a test sets."""
    now = [1_000_000.0]
    monkeypatch.setattr("ai.providers.keys.time.time", lambda: now[0])
    return now


def test_a_key_rests_for_a_while(hour: list[float]) -> None:
    rests, [first, second] = KeyRests(), keys_of("openai", ["a", "b"])
    rests.rest(first, "quota")
    assert rests.in_order([first, second]) == [second]
    hour[0] += keys.REST_SECONDS["quota"]
    assert rests.in_order([first, second]) == [first, second]


def test_rests_are_shared_with_other_processes(hour: list[float]) -> None:
    here, there, [key] = KeyRests(), KeyRests(), keys_of("openai", ["a"])
    here.rest(key, "key")
    changes = here.take_changes()
    assert (set(changes), here.take_changes()) == ({key.name}, {})
    there.replace([(name, rest) for name, rest in changes.items() if rest])
    assert there.rest_of(key) == Rest(hour[0] + keys.REST_SECONDS["key"], "key")


def test_a_change_that_nobody_knows_of_outlives_what_others_tell(hour: list[float]) -> None:
    rests, [key] = KeyRests(), keys_of("openai", ["a"])
    rests.rest(key, "key")
    taken = rests.take_changes()
    rests.put_back(taken)
    rests.replace([])
    assert rests.rest_of(key)
    rests.wake(key)
    rests.replace([(key.name, Rest(hour[0] + 60, "key"))])
    assert rests.rest_of(key) is None


def test_a_key_cannot_be_read_from_its_name() -> None:
    [key] = keys_of("openai", ["sk-secret"])
    assert "sk-secret" not in repr(key)
    assert "sk-secret" not in key.name


def test_several_keys_are_configured_with_commas_between_them() -> None:
    environ = {"OPENAI_API_KEY": " a, b,,a ,c"}
    config = from_environ(environ, simulated=NONE, simulator_url="")["openai"]
    assert config.api_keys == ("a", "b", "c")
    assert [each.api_keys for each in config.with_each_key()] == [("a",), ("b",), ("c",)]
    assert not any(key in repr(config) for key in ("'a'", "'b'", "'c'"))


def test_the_file_of_a_service_account_is_one_key() -> None:
    environ = {"VERTEX_API_KEY": '{"client_email": "a", "private_key": "b"}'}
    config = from_environ(environ, simulated=NONE, simulator_url="")["vertex"]
    assert config.api_keys == (environ["VERTEX_API_KEY"],)
