"""The owner of sessions (councils, runs): asks for them, follows and replays their events."""

import json
from collections.abc import Collection, Sequence
from http.client import HTTPConnection
from typing import Any

import msgspec
from websockets.sync.client import connect

from accounts.models import User
from bench.seed import Account, open_sessions
from bench.servers import BenchError
from devserver.ports import LOOPBACK

_TIMEOUT = 120  # seconds for one event
_PAGE = 500


class SessionEvent(msgspec.Struct):
    """What is read of an event."""

    seq: int
    type: str
    data: dict[str, Any]


def access_tokens(accounts: Sequence[Account]) -> list[str]:
    """An access token for each account."""
    users = User.objects.in_bulk([account.account_id for account in accounts])
    return list(open_sessions(list(users.values())).values())


class SessionClient:
    """An owner. `product` is the path of the API, such as `/api/council`."""

    def __init__(self, product: str, port: int, token: str) -> None:
        self._product = product
        self._port = port
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return json.loads(self._ask(method, path, body))

    def listen(self, session_id: str, ends: Collection[str], count: int = 1) -> list[bytes]:
        """All events, until so many have come of the types `ends`."""
        url = f"ws://{LOOPBACK}:{self._port}{self._product}/ws/{session_id}?after_seq=0"
        frames, ended = [], 0
        authorization = {"Authorization": self._headers["Authorization"]}
        with connect(url, additional_headers=authorization, compression=None) as socket:
            while ended < count:
                frame = socket.recv(_TIMEOUT, decode=False)
                if frame.startswith(b'{"seq":'):
                    frames.append(frame)
                    ended += msgspec.json.decode(frame, type=SessionEvent).type in ends
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
        http.request(method, f"{self._product}/sessions{path}", encoded, self._headers)
        response = http.getresponse()
        answer = response.read()
        http.close()
        if response.status not in (200, 201):
            raise BenchError(f"{method} {path} answered {response.status}: {answer.decode()}")
        return answer
