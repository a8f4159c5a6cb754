"""What clients have seen: the oracle holds the service to it."""

from dataclasses import asdict, dataclass, field
from typing import Any

from bench.campaign.schedule import Act


@dataclass(frozen=True)
class Answer:
    """A whole answer of `/v1`: its `content` is the text, or whatever else was asked for."""

    id: str
    content: str
    usage: dict[str, Any]


@dataclass
class Note:
    """All that a client knows of an act. `marker` is its calls' in the journal and the id of its
    requests, `name` its Idempotency-Key."""

    act: Act
    marker: str
    name: str | None = None
    statuses: list[int] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    # The ids of what it has begun, amounts, texts.
    seen: dict[str, Any] = field(default_factory=dict)
    # Frames of sockets, by the id of the session.
    frames: dict[str, list[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    ended: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"act {self.act.number} ({self.act.kind} of person {self.act.person}, {self.marker})"
