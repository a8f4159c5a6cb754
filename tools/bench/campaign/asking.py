"""Requests as careful clients send them: again where they were not answered, under their name."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx

from bench.campaign.notes import Note
from bench.campaign.people import Person
from server.tests.client import new_address
from simulator.process import RunningSimulator
from simulator.steering import SIGN

# Answers that say: later. 409 only of a name whose request is still carried out.
LATER = (429, 502, 503, 504)
SECONDS = 8.0
_PAUSE = 0.3
_MAX_BAD_GATEWAYS = 3

# The name, the content and the type of a file in a form.
File = tuple[str, bytes, str]


class GaveUp(Exception):
    """There is no answer, although everything has worked again for a while."""


class Departed(Exception):
    """The account is closed."""


@dataclass
class Clock:
    """The time of a life. `gives_up_at` is set when it is healed: answers have to come by then."""

    began_at: float
    gives_up_at: float = float("inf")

    @property
    def now(self) -> float:
        return time.monotonic() - self.began_at


@dataclass(frozen=True)
class Endpoints:
    """The URLs of the web processes, the control of what stands for everybody else's servers, their
    address as the service reaches them, over what the nemesis cuts, and the session of an
    operator."""

    webs: list[str]
    simulator: RunningSimulator
    providers_url: str
    operator: str


class Asker:
    """Sends the requests of one act to the web processes in turn."""

    def __init__(
        self,
        note: Note,
        person: Person,
        endpoints: Endpoints,
        clock: Clock,
        *,
        departs: bool,
    ) -> None:
        self.note = note
        self.person = person
        self.endpoints = endpoints
        self.clock = clock
        self.departs = departs
        self._bad_gateways = 0
        self._turns = count(note.act.number)
        self._address = new_address()

    def prompt(self, words: str, *lines: dict[str, Any]) -> str:
        """Words with the steering of the act, or with several lines."""
        marked = lines or (self.note.act.options.get("steering", {}),)
        return "\n".join([words, *map(self.steering_line, marked)])

    def steering_line(self, steering: dict[str, Any]) -> str:
        """What tells the simulator how to answer, and whose call it is."""
        return f"{SIGN} {json.dumps({'marker': self.note.marker, **steering})}"

    def ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        file: File | None = None,
        form: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        name: str | None = None,
        key: str | None = None,
    ) -> httpx.Response:
        """The answer, after as many attempts as it takes; `file` and `form` are sent as a form.
        Something without a name that changes anything may be carried out more than once.

        Raises GaveUp, Departed.
        """
        while True:
            try:
                with self._client() as client:
                    answer = client.request(
                        method,
                        path,
                        json=body,
                        data=form,
                        files=None if file is None else {"file": file},
                        headers={**self.headers(name, key), **(headers or {})},
                    )
            except httpx.TransportError:
                self.pause()
                continue
            self.check(answer)
            if not self.is_for_later(answer):
                return answer
            self.pause()

    @contextmanager
    def open(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        name: str | None = None,
        key: str | None = None,
        place: int | None = None,
    ) -> Iterator[httpx.Response]:
        """An answer that is read as it comes, in one attempt; of a stream, from after a place.
        Raises httpx.TransportError."""
        headers = self.headers(name, key)
        if place is not None:
            headers["Last-Event-ID"] = str(place)
        with (
            self._client() as client,
            client.stream(method, path, json=body, headers=headers) as answer,
        ):
            if answer.status_code != 200:
                answer.read()
            self.check(answer)
            yield answer

    def pause(self) -> None:
        """Before the next attempt. Raises GaveUp."""
        if self.clock.now > self.clock.gives_up_at:
            raise GaveUp(f"statuses {self.note.statuses[-5:]}")
        time.sleep(_PAUSE)

    def is_for_later(self, answer: httpx.Response) -> bool:
        """Is it to be asked again? A provider that fails is not asked for ever."""
        self._bad_gateways += answer.status_code == 502
        if answer.status_code == 409:
            return "in_progress" in answer.text
        return answer.status_code in LATER and self._bad_gateways <= _MAX_BAD_GATEWAYS

    def next_url(self) -> str:
        urls = self.endpoints.webs
        return urls[next(self._turns) % len(urls)]

    def headers(self, name: str | None, key: str | None) -> dict[str, str]:
        named = {"Idempotency-Key": name} if name else {}
        who = {"Authorization": f"Bearer {key or self.person.token}"}
        return {**who, **named, "X-Request-Id": self.note.marker}

    def check(self, answer: httpx.Response) -> None:
        """Note the status. No fault of the environment is an excuse for a 500."""
        self.note.statuses.append(answer.status_code)
        if answer.status_code == 500:
            self.note.wrong.append(f"{answer.request.method} {answer.request.url.path}: 500")
        if answer.status_code in (401, 403) and self.departs:
            raise Departed

    def _client(self) -> httpx.Client:
        transport = httpx.HTTPTransport(local_address=self._address)
        return httpx.Client(base_url=self.next_url(), transport=transport, timeout=SECONDS)
