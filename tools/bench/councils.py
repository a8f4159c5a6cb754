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
from uuid import uuid4

import msgspec

from bench.seed import Account
from bench.servers import Server
from bench.session_client import SessionClient, SessionEvent, access_tokens
from simulator.process import RunningSimulator

_MODEL = "gpt-6-luna"
_DELAY_MS = 10
_ENDS = ("card.completed", "card.failed", "card.cancelled")


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


def warm_up(service: Server, simulator: RunningSimulator, account: Account) -> None:
    """Run in both processes what will be measured."""
    _hold(_client(service.port, *access_tokens([account])), simulator, _WARM_UP)


def measure(
    service: Server, simulator: RunningSimulator, accounts: Sequence[Account]
) -> list[Outcome]:
    """One council for each account, all at once."""

    def hold(token: str) -> Outcome:
        return _hold(_client(service.port, token), simulator, SIZE)

    with ThreadPoolExecutor(len(accounts)) as pool:
        return list(pool.map(hold, access_tokens(accounts)))


def _client(port: int, token: str) -> SessionClient:
    return SessionClient("/api/council", port, token)


def _hold(client: SessionClient, simulator: RunningSimulator, size: Size) -> Outcome:
    marker = uuid4().hex
    steering = {"tokens": size.tokens, "delay_ms": _DELAY_MS, "marker": marker}
    prompt = f"Tell me something at length.\n@sim {json.dumps(steering)}"
    started = time.perf_counter()
    session = client.ask("POST", "", {"prompt": prompt, "models": [_MODEL] * size.cards})
    frames = client.listen(session["id"], _ENDS, size.cards)
    seconds = time.perf_counter() - started
    calls = simulator.calls(marker)
    faults = _faults(client, session["id"], frames, size)
    if (outcomes := [call["outcome"] for call in calls]) != ["completed"] * size.cards:
        faults.append(f"the provider saw {outcomes}")
    slowest = max(call["ended_at"] - call["started_at"] for call in calls)
    return Outcome(seconds, slowest, len(frames), faults)


def _faults(client: SessionClient, session_id: str, frames: list[bytes], size: Size) -> list[str]:
    """Differences between socket and replay, and between the text in events and in cards."""
    faults = []
    replayed = client.replay(session_id)
    events = [msgspec.json.decode(frame, type=SessionEvent) for frame in frames]
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
