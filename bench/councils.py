"""Councils through the whole service, web process and worker: how much longer a council takes than
its slowest provider call, and whether many concurrent councils keep every event.

The time of a call is that in the simulator's journal, from its arrival to its last word.
"""

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from uuid import uuid4

import msgspec
from websockets.sync.client import connect

from accounts.models import User
from bench.seed import Account, open_sessions
from bench.servers import BenchError, Server
from local.ports import LOOPBACK
from simulator.process import RunningSimulator

_MODEL = "gpt-6-luna"
_DELAY_MS = 10
_TIMEOUT = 120  # seconds for one event
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Size:
    """The number of cards of a council, and of tokens in each answer."""

    cards: int
    tokens: int


SIZE = Size(cards=8, tokens=800)
_WARM_UP = Size(cards=1, tokens=1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds from the request to the last `card.completed`, and of the slowest provider call;
    `faults` describe errors in the events."""

    seconds: float
    slowest_call: float
    events: int
    faults: list[str]


class _Event(msgspec.Struct):
    seq: int
    type: str
    data: dict[str, Any]


def warm_up(service: Server, simulator: RunningSimulator, account: Account) -> None:
    """Run in both processes what will be measured."""
    _hold(_Client(service.port, *_tokens([account])), simulator, _WARM_UP)


def measure(
    service: Server, simulator: RunningSimulator, accounts: Sequence[Account]
) -> list[Outcome]:
    """One council for each account, all at once."""

    def hold(token: str) -> Outcome:
        return _hold(_Client(service.port, token), simulator, SIZE)

    with ThreadPoolExecutor(len(accounts)) as pool:
        return list(pool.map(hold, _tokens(accounts)))


def _tokens(accounts: Sequence[Account]) -> list[str]:
    users = User.objects.in_bulk([account.account_id for account in accounts])
    return list(open_sessions(list(users.values())).values())


def _hold(client: "_Client", simulator: RunningSimulator, size: Size) -> Outcome:
    marker = uuid4().hex
    steering = {"tokens": size.tokens, "delay_ms": _DELAY_MS, "marker": marker}
    prompt = f"Tell me something at length.\n@sim {json.dumps(steering)}"
    started = time.perf_counter()
    session = client.ask("POST", "", {"prompt": prompt, "models": [_MODEL] * size.cards})
    frames = client.listen(session["id"], size.cards)
    seconds = time.perf_counter() - started
    calls = simulator.calls(marker)
    faults = _faults(client, session["id"], frames, size)
    if (outcomes := [call["outcome"] for call in calls]) != ["completed"] * size.cards:
        faults.append(f"the provider saw {outcomes}")
    slowest = max(call["ended_at"] - call["started_at"] for call in calls)
    return Outcome(seconds, slowest, len(frames), faults)


def _faults(client: "_Client", session_id: str, frames: list[bytes], size: Size) -> list[str]:
    """Differences between socket and replay, and between the text in events and in cards."""
    faults = []
    replayed = client.replay(session_id)
    events = [msgspec.json.decode(frame, type=_Event) for frame in frames]
    if frames != replayed[: len(frames)]:
        faults.append("the socket differs from the replay")
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        faults.append("the events have gaps")
    texts: dict[str, str] = defaultdict(str)
    for event in events:
        if event.type == "card.delta":
            texts[event.data["card_id"]] += event.data["text"]
    for card in client.ask("GET", f"/{session_id}")["cards"]:
        if card["content"] != texts[card["id"]]:
            faults.append("the events of a card are not its text")
        if (card["status"], card["usage"]["output_tokens"]) != ("completed", size.tokens):
            faults.append(f"a card is {card['status']} with {card['usage']}")
    return faults


class _Client:
    """The owner of a council."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return json.loads(self._ask(method, path, body))

    def listen(self, session_id: str, cards: int) -> list[bytes]:
        """All events, until every card has ended."""
        url = f"ws://{LOOPBACK}:{self._port}/api/council/ws/{session_id}?after_seq=0"
        frames, ended = [], 0
        authorization = {"Authorization": self._headers["Authorization"]}
        with connect(url, additional_headers=authorization, compression=None) as socket:
            while ended < cards:
                frame = socket.recv(_TIMEOUT, decode=False)
                if frame.startswith(b'{"seq":'):
                    frames.append(frame)
                    kind = msgspec.json.decode(frame, type=_Event).type
                    ended += kind in ("card.completed", "card.failed", "card.cancelled")
        return frames

    def replay(self, session_id: str) -> list[bytes]:
        """All events, as bytes."""
        events: list[bytes] = []
        page = [msgspec.Raw()]
        while page:
            path = f"/{session_id}/events?after_seq={len(events)}&limit={_PAGE}"
            page = msgspec.json.decode(self._ask("GET", path), type=list[msgspec.Raw])
            events += map(bytes, page)
        return events

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> bytes:
        http = HTTPConnection(LOOPBACK, self._port, timeout=_TIMEOUT)
        encoded = None if body is None else json.dumps(body).encode()
        http.request(method, f"/api/council/sessions{path}", encoded, self._headers)
        response = http.getresponse()
        answer = response.read()
        http.close()
        if response.status not in (200, 201):
            raise BenchError(f"{method} {path} answered {response.status}: {answer.decode()}")
        return answer
