"""Honest sign-ins beside guesses from sixty addresses: none is refused, and none waits for them.

`make bench ARGS="--only abuse"` measures how long they take.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import httpx
import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from pytest_django import DjangoDbBlocker

from accounts.models import User
from server.tests.client import new_address
from simulator.process import RunningSimulator
from tests.personas import authorization, new_user
from tests.service import Web, running_web

pytestmark = pytest.mark.usefixtures("committed")

LOGIN = "/api/auth/login"
PASSWORD = "correct horse battery staple"
ADDRESSES, EACH = 60, 5


@pytest.fixture(scope="module")
def hashing_web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    with (
        django_db_blocker.unblock(),
        running_web(simulator, DJANGO_SETTINGS_MODULE="tests.hashing_settings") as web,
    ):
        yield web


def person(name: str) -> User:
    user = new_user(name)
    hasher = Argon2PasswordHasher()
    user.password = hasher.encode(PASSWORD, hasher.salt())
    user.save()
    return user


class Guessers:
    """300 guesses, five at a time from each of sixty addresses."""

    def __init__(self, web: Web) -> None:
        self.answers: Counter[int] = Counter()
        self._web = web

    async def _guess(self, http: httpx.AsyncClient, account: str) -> None:
        body = {"email": account, "password": "a wrong password"}
        self.answers[(await http.post(LOGIN, json=body)).status_code] += 1

    async def _run(self) -> None:
        clients = [
            httpx.AsyncClient(
                base_url=self._web.url,
                transport=httpx.AsyncHTTPTransport(local_address=new_address()),
                timeout=60,
            )
            for _ in range(ADDRESSES)
        ]
        accounts = product(clients, range(EACH))
        await asyncio.gather(
            *(self._guess(http, f"{id(http)}-{n}@example.com") for http, n in accounts)
        )
        for http in clients:
            await http.aclose()

    def run(self) -> None:
        asyncio.run(self._run())


def sign_in(web: Web, user: User, address: str) -> httpx.Response:
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=web.url, transport=transport, timeout=30) as http:
        return http.post(LOGIN, json={"email": user.email, "password": PASSWORD})


def wait_until_they_wait(guessers: Guessers, web: Web) -> None:
    deadline = time.monotonic() + 20
    while not guessers.answers and time.monotonic() < deadline:
        time.sleep(0.02)
    assert guessers.answers


def test_the_first_sign_ins_of_new_addresses_are_not_delayed_by_300_guesses(
    hashing_web: Web,
) -> None:
    people = [person(f"honest-{number}") for number in range(4)]
    headers = authorization(people[0])
    assert sign_in(hashing_web, people[0], new_address()).status_code == 200
    guessers = Guessers(hashing_web)
    with ThreadPoolExecutor(1) as thread:
        guessing = thread.submit(guessers.run)
        wait_until_they_wait(guessers, hashing_web)
        before = guessers.answers[401]
        for user in people:
            assert sign_in(hashing_web, user, new_address()).status_code == 200
            answer = httpx.get(f"{hashing_web.url}/api/users/me", headers=headers, timeout=10)
            assert answer.status_code == 200
        assert not guessing.done()
        # Of those that guess hardly any was served meanwhile, and none in front of an honest one.
        assert guessers.answers[401] - before <= 3 * len(people)
        guessing.result()
    assert guessers.answers.total() == ADDRESSES * EACH
    assert guessers.answers.keys() <= {401, 429, 503}
