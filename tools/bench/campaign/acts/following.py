"""A session of a product that has a log: followed on a socket that comes back after its last
event, until nothing runs."""

import json
import threading
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from bench.campaign.asking import Asker
from tests.follow import Picture, Product

_GLANCE = 0.4  # seconds
_OPEN_SECONDS = 5


class Following:
    """A context: the socket is read while the block acts on the session."""

    def __init__(self, asker: Asker, product: Product, session_id: str) -> None:
        self.path = f"{product.path}/sessions/{session_id}"
        self._asker = asker
        self._product = product
        self._session_id = session_id
        self._frames = asker.note.frames.setdefault(session_id, [])
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> "Following":
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._is_over.set()
        self._thread.join()

    def look(self) -> Picture | None:
        """The session as it is; None where it is gone."""
        answer = self._asker.ask("GET", self.path)
        picture: Picture = answer.json()
        return picture if answer.status_code == 200 else None

    def wait_until_idle(self) -> Picture | None:
        """Look again and again until nothing runs. Raises GaveUp."""
        while True:
            picture = self.look()
            if picture is None or self._product.is_idle(picture):
                return picture
            self._asker.pause()
            self._is_over.wait(_GLANCE)

    def last_seq(self) -> int:
        return int(json.loads(self._frames[-1])["seq"]) if self._frames else 0

    def _listen(self) -> None:
        while not self._is_over.is_set():
            with suppress(ConnectionClosed, InvalidHandshake, OSError, TimeoutError, EOFError):
                self._read_one_socket()
            self._is_over.wait(_GLANCE)

    def _read_one_socket(self) -> None:
        base = self._asker.next_url().replace("http", "ws", 1)
        token = self._asker.person.token
        url = f"{base}{self._product.path}/ws/{self._session_id}"
        url += f"?token={token}&after_seq={self.last_seq()}"
        with connect(url, max_size=None, open_timeout=_OPEN_SECONDS, close_timeout=1) as socket:
            while not self._is_over.is_set():
                with suppress(TimeoutError):
                    self._take(socket.recv(timeout=_GLANCE))

    def _take(self, frame: Any) -> None:
        event = json.loads(frame)
        if "seq" not in event:
            return
        if event["seq"] != self.last_seq() + 1:
            self._asker.note.wrong.append(
                f"a socket of {self._session_id} brings {event['seq']} after {self.last_seq()}"
            )
        self._frames.append(frame)


def start(asker: Asker, path: str, body: dict[str, Any]) -> str | None:
    """Begin something under the name of the act. Returns its id; None where it was refused."""
    answer = asker.ask("POST", path, body, name=asker.note.name)
    if answer.status_code not in (200, 201, 202):
        asker.note.seen["refusal"] = answer.json()["code"]
        return None
    return str(answer.json()["id"])
