"""What was requested and what was sent: independent evidence for the tests of money."""

import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from uuid import uuid4

DEFAULT_LIMIT = 10_000
SHOWN_TEXT = 200
_SECRET_HEADERS = frozenset({"authorization", "cookie", "x-api-key", "x-goog-api-key", "x-key"})

Kind = Literal["chat", "embeddings", "images", "speech", "operations"]


@dataclass(slots=True)
class Call:
    """One call of a provider.

    `key` is a fingerprint of the key that it came with.
    `completion_tokens` and `reasoning_tokens` are those of the whole answer under the bound of the
    request; `tokens_emitted` and `reasoning_emitted` are those of the deltas sent so far, and
    `bytes_emitted` the bytes of both; so are `vectors` and `images`. A picture with a URL is
    emitted each time it is fetched. `prompt_tokens` include `cached_tokens`. `size` is in pixels,
    `quality` in the provider's words; `audio_seconds` come from the headers of the audio. `seconds`
    are those of the video that was ordered, `references` the pictures and clips that came with the
    request; `files_emitted` counts the whole files of an operation that were sent. `outcome` is
    `running`, `completed`, `refused`, `client_gone`, the name of the steered fault, or the
    moderation's result. Times are Unix seconds.
    """

    provider: str
    path: str
    headers: dict[str, str]
    kind: Kind | None
    key: str = ""
    id: str = field(default_factory=lambda: uuid4().hex)
    model: str = ""
    stream: bool = False
    marker: str | None = None
    max_tokens: int | None = None
    user_text: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    tokens_emitted: int = 0
    reasoning_emitted: int = 0
    bytes_emitted: int = 0
    vectors: int = 0
    vectors_emitted: int = 0
    images: int = 0
    images_emitted: int = 0
    size: str | None = None
    quality: str | None = None
    audio_bytes: int = 0
    audio_seconds: float | None = None
    language: str | None = None
    seconds: int | None = None
    references: int = 0
    files_emitted: int = 0
    outcome: str = "running"
    client_gone: bool = False
    finished: bool = False
    started_at: float = field(default_factory=time.time)
    ended_at: float | None = None

    @property
    def request_id(self) -> str:
        """The id of the call in the provider's answers."""
        return f"req_{self.id}"

    def finish(self, outcome: str) -> None:
        """Close the entry. The first outcome counts."""
        if self.finished:
            return
        self.outcome = outcome
        self.client_gone = outcome == "client_gone"
        self.finished = True
        self.ended_at = time.time()


class Journal:
    """The last `limit` calls, oldest first."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._calls: deque[Call] = deque(maxlen=limit)

    def open(self, kind: Kind | None, provider: str, path: str, headers: dict[str, str]) -> Call:
        """Record a call before it is answered. A call without a kind is not recorded."""
        shown = {name: value for name, value in headers.items() if name not in _SECRET_HEADERS}
        call = Call(provider=provider, path=path, headers=shown, kind=kind)
        if kind is not None:
            self._calls.append(call)
        return call

    def marked(self, marker: str | None) -> list[Call]:
        """The calls whose steering line has this `marker`."""
        return [call for call in self._calls if call.marker == marker]

    def entries(self, marker: str | None = None) -> list[dict[str, Any]]:
        """All calls, or those whose steering line has this `marker`."""
        return [asdict(call) for call in (self._calls if marker is None else self.marked(marker))]

    def clear(self) -> None:
        self._calls.clear()
