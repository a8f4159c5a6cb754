"""Callers whose prompts make the provider fail, among callers whose prompts do not: they close a
model for nobody, however many they are."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from uuid import uuid4

import httpx
import pytest
from msgspec import Struct
from pytest_django import DjangoDbBlocker

from accounts.keys import generate
from accounts.models import ApiKey, User
from billing.models import Subscription
from publicapi.tests.v1.circuits import DOWN, customer_of, probes_since, two_webs
from publicapi.tests.v1.customer import CHAT, IN_PLAN, Customer
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.own_redis import OwnRedis
from tests.service import Web

HONEST = 20
MOST_ATTACKERS = 200
PROBE_SECONDS = 2
# Calls that one attacker makes, one after the other: more than it takes to be refused.
ATTACKS = 6


class Answer(Struct, frozen=True):
    """The status of a call, when it was sent and when it ended, and the error's message."""

    status: int
    sent_at: float
    ended_at: float
    message: str = ""


class Caller(Struct, frozen=True):
    """A key, and what it asks of the provider."""

    key: str
    steering: str

    async def call(self, http: httpx.AsyncClient) -> Answer:
        prompt = f"How are you?\n@sim {self.steering}"
        body = {"model": IN_PLAN, "messages": [{"role": "user", "content": prompt}]}
        sent_at = time.time()
        response = await http.post(CHAT, json=body, headers={"Authorization": f"Bearer {self.key}"})
        error = response.json().get("error", {})
        return Answer(response.status_code, sent_at, time.time(), error.get("message", ""))


@pytest.fixture(scope="module")
def webs(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    own_redis: OwnRedis,
) -> Iterator[list[Web]]:
    seconds = str(PROBE_SECONDS)
    with (
        django_db_blocker.unblock(),
        two_webs(simulator, own_redis, PROBE_SECONDS=seconds, CALLER_FAILURES="2") as webs,
    ):
        yield webs


@pytest.fixture(scope="module")
def keys(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[list[str], list[str]]:
    """The keys of honest callers and of attackers, each of an account of its own."""
    with django_db_blocker.unblock():
        users = User.objects.bulk_create(
            User(email=f"charlie-{uuid4().hex}@example.com") for _ in range(HONEST + MOST_ATTACKERS)
        )
        Subscription.objects.filter(account__in=users).update(plan="max")
        raw = [generate() for _ in users]
        rows = [ApiKey(account=user, name="test") for user in users]
        for row, key in zip(rows, raw, strict=True):
            row.set_key(key)
        ApiKey.objects.bulk_create(rows)
    return raw[:HONEST], raw[HONEST:]


@pytest.fixture
def alice(
    committed: None, webs: list[Web], own_redis: OwnRedis, simulator: RunningSimulator
) -> Iterator[Customer]:
    """Somebody from whose beginning on probes are counted."""
    with customer_of(webs, own_redis, simulator) as alice:
        yield alice


@pytest.fixture
def honest(keys: tuple[list[str], list[str]]) -> list[Caller]:
    return [Caller(key, json.dumps({"tokens": 3})) for key in keys[0]]


@pytest.fixture
def attackers(keys: tuple[list[str], list[str]]) -> list[Caller]:
    steering = json.dumps({**DOWN, "marker": uuid4().hex})
    return [Caller(key, steering) for key in keys[1]]


def clients(webs: list[Web]) -> list[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=None)
    return [httpx.AsyncClient(base_url=web.url, timeout=60, limits=limits) for web in webs]


async def attack(http: list[httpx.AsyncClient], attackers: list[Caller]) -> list[Answer]:
    """Each attacker calls one process and then the other, until it is refused."""

    async def one(number: int, caller: Caller) -> list[Answer]:
        answers: list[Answer] = []
        while len(answers) < ATTACKS and 429 not in {each.status for each in answers}:
            answers.append(await caller.call(http[(number + len(answers)) % 2]))
        return answers

    everyone = await asyncio.gather(*(one(*each) for each in enumerate(attackers)))
    return [answer for answers in everyone for answer in answers]


@pytest.mark.parametrize("is_busy", [True, False], ids=["busy", "idle"])
@pytest.mark.parametrize("number", [1, 2, 20, MOST_ATTACKERS])
def test_no_honest_call_is_refused_however_many_attack(
    alice: Customer,
    webs: list[Web],
    honest: list[Caller],
    attackers: list[Caller],
    number: int,
    is_busy: bool,
    record_property: Callable[[str, object], None],
) -> None:
    async def run() -> tuple[list[Answer], list[Answer]]:
        http = clients(webs)
        answers: list[Answer] = []

        async def call_honestly() -> None:
            for turn in range(2):
                calls = (each.call(http[(at + turn) % 2]) for at, each in enumerate(honest))
                answers.extend(await asyncio.gather(*calls))

        attacking = asyncio.create_task(attack(http, attackers[:number]))
        while is_busy and not attacking.done():
            await call_honestly()
            await asyncio.sleep(1)
        attacked = await attacking
        await call_honestly()
        for each in http:
            await each.aclose()
        return answers, attacked

    answers, attacked = asyncio.run(run())
    probes = probes_since(alice)
    counted = Counter(each.status for each in attacked)
    record_property("attackers", dict(counted))
    record_property("honest calls, probes", (len(answers), len(probes)))
    assert {each.status for each in answers} == {200}
    assert set(counted) <= {502, 429}
    assert counted[429] > 0, "attackers are refused alone"
    assert all(probe.status != "released" for probe in probes), "every probe is answered"


@pytest.mark.parametrize(
    ("outage", "cause"), [(DOWN, "503"), ({"hang": True}, "timeout")], ids=["down", "hanging"]
)
def test_a_provider_that_is_really_down_is_spared_within_seconds(
    alice: Customer,
    webs: list[Web],
    honest: list[Caller],
    simulator: RunningSimulator,
    outage: dict[str, object],
    cause: str,
    record_property: Callable[[str, object], None],
) -> None:
    """At 20 calls a second: the third failure starts the probe, which ends in time; those in flight
    are told at once, and those that come later are refused before they are held for."""
    seconds = 5.0

    async def run() -> list[Answer]:
        http = clients(webs)
        calls = []
        for number in range(int(20 * seconds)):
            caller = honest[number % HONEST]
            calls.append(asyncio.create_task(caller.call(http[number % 2])))
            await asyncio.sleep(1 / 20)
        answers = await asyncio.gather(*calls)
        for each in http:
            await each.aclose()
        return answers

    simulator.begin_outage(IN_PLAN, **outage)
    began_at = time.time()
    answers = asyncio.run(run())
    probe = probes_since(alice)[0]
    assert probe.resolved_at is not None
    begun, ended = probe.admitted_at.timestamp(), probe.resolved_at.timestamp()
    failed = [each for each in answers if each.status == 502]
    refused = [each for each in answers if each.status == 503]
    in_flight = [each for each in failed if each.sent_at < ended < each.ended_at]
    last = max(each.ended_at for each in failed)
    record_property("probe begins after, takes", (begun - began_at, ended - begun))
    record_property("failed, in flight, refused", (len(failed), len(in_flight), len(refused)))
    record_property("the last ends after the probe", last - ended)
    # A silent call counts after CIRCUIT_SILENT_SECONDS.
    third = 3 / 20 + (1.0 if cause == "timeout" else 0.0)
    assert begun - began_at < third + 1.0
    assert ended - begun <= PROBE_SECONDS
    assert {each.status for each in answers} == {502, 503}
    assert all(each.ended_at < ended + 1.5 for each in failed), "nobody waits for minutes"
    if cause == "timeout":
        assert all("for everybody" in each.message for each in in_flight)
    assert {each.status for each in answers if each.sent_at > ended + 1.0} == {503}

    simulator.end_outages()
    wait_for(lambda: alice.chat().status_code == 200, seconds=15, pause=0.2)
