"""Somebody who chats, over HTTP, against the running service."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from accounts.models import User
from billing.models import Charge
from simulator.process import RunningSimulator
from tests import declared_events
from tests.personas import access_token_of, new_user

# Every plan has an allowance for it, and the free one messages.
FREE_MODEL = "gpt-6-luna"
# No plan has an allowance for it: every call is paid from the balance, at twice the cost.
BALANCE_ONLY = "kimi-k3"
# It shows what it thinks.
THINKER = "deepseek-v4-pro"
# It does not show what it thinks.
UNSEEN_THINKER = "gpt-6-luna"
# Neither does this one, and it thinks without being asked to.
UNASKED_THINKER = "gpt-6.1-sol"

Shape = dict[str, Any]


@dataclass
class Frame:
    """One server-sent event. `data` is None of the last one."""

    id: int
    data: Shape | None

    @property
    def type(self) -> str:
        return "[DONE]" if self.data is None else str(self.data["type"])


@dataclass
class Heard:
    """What has come of a stream."""

    frames: list[Frame] = field(default_factory=list)

    def of(self, kind: str) -> list[Shape]:
        return [frame.data for frame in self.frames if frame.data and frame.type == kind]

    @property
    def types(self) -> list[str]:
        return [frame.type for frame in self.frames]

    @property
    def reply_id(self) -> str:
        return str(self.of("start")[0]["messageId"])

    @property
    def metadata(self) -> Shape:
        """What the stream said at its start."""
        metadata: Shape = self.of("start")[0]["messageMetadata"]
        return metadata

    @property
    def text(self) -> str:
        return "".join(each["delta"] for each in self.of("text-delta"))

    @property
    def reasoning(self) -> str:
        return "".join(each["delta"] for each in self.of("reasoning-delta"))

    @property
    def finish(self) -> Shape:
        [finish] = self.of("finish")
        return finish

    @property
    def usage(self) -> Shape:
        usage: Shape = self.finish["usage"]
        return usage


class EndOfStream(Exception):
    """It ended, and what was waited for has not come."""


@dataclass
class Stream:
    """A stream that is being read."""

    response: httpx.Response
    heard: Heard
    _lines: Iterator[str]

    def next(self) -> Frame:
        """The next frame; comments are passed over."""
        number: int | None = None
        for line in self._lines:
            name, _, value = line.partition(": ")
            if name == "id":
                number = int(value)
            elif name == "data":
                assert number is not None
                frame = Frame(number, None if value == "[DONE]" else json.loads(value))
                declared_events.check_frame(frame.data)
                self.heard.frames.append(frame)
                return frame
        raise EndOfStream

    def until(self, kind: str) -> Frame:
        """Read up to a frame of that type."""
        while (frame := self.next()).type != kind:
            pass
        return frame

    def to_the_end(self) -> Heard:
        self.until("[DONE]")
        assert list(self._lines) in ([], [""])
        return self.heard


@dataclass
class Speaker:
    """A user on a plan. What they say is marked, so that the simulator's journal tells their calls
    from everybody else's."""

    user: User
    marker: str
    http: httpx.Client
    simulator: RunningSimulator

    # --- Acting ----------------------------------------------------------------------------------

    def words(self, words: str = "How deep is the sea?", **steering: Any) -> str:
        """Words that steer the simulator; without a option it answers in three words."""
        usual = {} if "text" in steering else {"tokens": 3}
        steering = {"marker": self.marker, **usual, **steering}
        return f"{words}\n@sim {json.dumps(steering)}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {access_token_of(self.user)}"}

    def ask(
        self, method: str, path: str, headers: dict[str, str] | None = None, **body: Any
    ) -> httpx.Response:
        headers = self.headers | (headers or {})
        return self.http.request(method, f"/api/conversations{path}", json=body, headers=headers)

    def do(self, method: str, path: str, **body: Any) -> Any:
        """The answer of what goes well."""
        answer = self.ask(method, path, **body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def begin(self, **fields: Any) -> str:
        """A new conversation."""
        return str(self.do("POST", "", **fields)["id"])

    def detail(self, conversation: str) -> Shape:
        shape: Shape = self.do("GET", f"/{conversation}")
        return shape

    def message(self, conversation: str, message_id: str) -> Shape:
        [message] = [m for m in self.detail(conversation)["messages"] if m["id"] == message_id]
        return dict(message)

    @contextmanager
    def stream(
        self, method: str, path: str, headers: dict[str, str] | None = None, **body: Any
    ) -> Iterator[Stream]:
        """A stream that goes well, to be read as far as wanted."""
        headers = self.headers | (headers or {})
        url = f"/api/conversations{path}"
        json_body = body if method == "POST" else None
        with self.http.stream(method, url, json=json_body, headers=headers) as response:
            if response.status_code != 200:
                response.read()
                raise AssertionError(response.text)
            yield Stream(response, Heard(), response.iter_lines())

    def send(self, conversation: str, content: str | None = None, **body: Any) -> Heard:
        """Say something, and hear all of the reply."""
        body["content"] = self.words() if content is None else content
        with self.stream("POST", f"/{conversation}/messages", **body) as stream:
            return stream.to_the_end()

    # --- Counting --------------------------------------------------------------------------------

    def charge(self, reply_id: str) -> Charge:
        return Charge.objects.get(pk=reply_id)

    def charges(self) -> list[Charge]:
        """All that were made for this person, titles too, in their order."""
        return list(Charge.objects.filter(account=self.user).order_by("admitted_at"))

    def calls(self) -> list[Shape]:
        """What the providers say they were asked."""
        return self.simulator.calls(self.marker)


def new_speaker(
    http: httpx.Client,
    simulator: RunningSimulator,
    *,
    name: str = "alice",
    plan: str = "max",
    balance_usd: int = 10,
) -> Speaker:
    """Somebody new."""
    user = new_user(name, plan=plan, balance_usd=balance_usd)
    return Speaker(user, uuid4().hex, http, simulator)
