"""Steering: a `@sim {json}` line in a prompt that controls the simulator. Real providers read it as
text."""

from typing import Annotated, Any, Literal, NamedTuple

import msgspec

SIGN = "@sim"
MAX_TOKENS = 100_000
MAX_DELAY_MS = 60_000
MAX_PADDING = 64 * 1024 * 1024
MAX_RESULT = 2**32 - 1  # an MP4's box is no longer

Fault = Literal["refuse", "error", "hang", "drop", "bad_json", "truncate", "error_in_200"]
# The requests of a long-running operation.
Request = Literal["submit", "find", "poll", "cancel", "file"]
# What is wrong with the file of a finished operation.
Result = Literal["empty", "broken", "other_type", "huge", "redirect", "expired"]
TokenCount = Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKENS)]
Step = Literal["plan", "work", "review", "reply", "final"]
# What clumsy authors do (competence/slips.py).
Mistake = Literal[
    "cut",
    "refusal",
    "unavailable",
    "broken",
    "missing_file",
    "wrong_path",
    "fence",
    "stale_edit",
    "bad_arguments",
    "bad_plan",
]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=MAX_DELAY_MS)]


class InvalidSteering(Exception):
    """The steering line is invalid; the text says why."""


class SteeredCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a function; a text as its arguments is sent as it is."""

    name: str
    arguments: dict[str, Any] | str = {}


class Clumsiness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """These mistakes happen in that share of the first calls of each step, and in fewer later ones;
    a seed makes the same ones again."""

    seed: int
    mistakes: tuple[Mistake, ...]
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0


class Steering(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of an answer; without them an answer is as usual. At most one fault.

    docs/simulator.md says what each of them does.
    """

    model: str | None = None
    title: bool = False
    step: Step | None = None
    subtask: str | None = None
    tokens: TokenCount | None = None
    text: str | None = None
    reasoning_tokens: TokenCount | None = None
    cached_tokens: TokenCount = 0
    cache_write_tokens: TokenCount = 0
    refusal: bool = False
    blocked: bool = False
    finish: str | None = None
    cut: Annotated[int, msgspec.Meta(ge=1, le=MAX_TOKENS)] | None = None
    tool_calls: Annotated[tuple[SteeredCall, ...], msgspec.Meta(max_length=200)] | None = None
    calls: Annotated[tuple[SteeredCall, ...], msgspec.Meta(max_length=200)] | None = None
    calls_forever: bool = False
    bad_arguments: bool = False
    no_usage: bool = False
    zero_usage: bool = False
    restate_usage: bool = False
    delay_ms: Milliseconds = 0
    delta_tokens: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None
    ttft_ms: Milliseconds = 0
    comments: bool = False
    crlf: bool = False
    split: bool = False
    fail: Literal["before", "after"] | None = None
    status: Annotated[int, msgspec.Meta(ge=400, le=599)] | None = None
    code: str | None = None
    retry_after: Annotated[int, msgspec.Meta(ge=0)] | None = None
    hang: bool = False
    drop: bool = False
    bad_json: bool = False
    truncate: bool = False
    error_in_200: bool = False
    after_tokens: TokenCount | None = None
    times: Annotated[int, msgspec.Meta(ge=1)] | None = None
    vectors: Annotated[int, msgspec.Meta(ge=0, le=4096)] | None = None
    dimensions: Annotated[int, msgspec.Meta(ge=1, le=4096)] | None = None
    pictures: Annotated[int, msgspec.Meta(ge=0, le=10)] | None = None
    drafts: Annotated[int, msgspec.Meta(ge=0, le=4)] | None = None
    polls: Annotated[int, msgspec.Meta(ge=0)] = 1
    missing: bool = False
    no_picture: bool = False
    padding: Annotated[int, msgspec.Meta(ge=0, le=MAX_PADDING)] = 0
    bad_b64: bool = False
    queue: Annotated[int, msgspec.Meta(ge=0)] = 0
    result: Result | None = None
    result_bytes: Annotated[int, msgspec.Meta(ge=0, le=MAX_RESULT)] = 2 * 1024**3
    at: tuple[Request, ...] = ("submit",)
    competence: str | None = None
    clumsy: Clumsiness | None = None
    marker: str | None = None

    def faults(self) -> list[Fault]:
        """All faults that are set; a status alone is a refusal."""
        named: dict[Fault, bool] = {
            "refuse": self.fail == "before",
            "error": self.fail == "after",
            "hang": self.hang,
            "drop": self.drop,
            "bad_json": self.bad_json,
            "truncate": self.truncate,
            "error_in_200": self.error_in_200,
        }
        wanted = [fault for fault, is_wanted in named.items() if is_wanted]
        return wanted or (["refuse"] if self.status is not None else [])

    @property
    def fault(self) -> Fault | None:
        """The one fault."""
        return next(iter(self.faults()), None)

    def fault_position(self, total: int) -> int:
        """The number of words, of `total`, before a mid-stream fault."""
        if self.after_tokens is not None:
            return min(self.after_tokens, total)
        if self.fault == "truncate":
            return total
        return min(1, total) if self.fault == "error" else 0


class Place(NamedTuple):
    """What a call is for: the title of a conversation, or a step of a run about a subtask."""

    is_title: bool = False
    step: Step | None = None
    subtask: str = ""

    def accepts(self, line: Steering) -> bool:
        """Does a line count here?"""
        has_form = self.step in ("plan", "review", "reply")
        is_for_all = line.step is None and (not has_form or line.competence is not None)
        is_for_step = line.step == self.step or is_for_all
        is_for_subtask = line.subtask in (None, self.subtask)
        return line.title == self.is_title and is_for_step and is_for_subtask


ANYWHERE = Place()


def read(texts: list[str], model: str, place: Place = ANYWHERE) -> Steering:
    """The last steering line for the model in the texts of a conversation, or an empty one.

    Raises `InvalidSteering`.
    """
    for line in reversed([line for text in texts for line in _lines(text)]):
        steering = _decode(line)
        if steering.model in (None, model) and place.accepts(steering):
            return steering
    return Steering()


def without_fault(steering: Steering) -> Steering:
    """The same options without the fault."""
    return msgspec.structs.replace(
        steering,
        fail=None,
        status=None,
        hang=False,
        drop=False,
        bad_json=False,
        truncate=False,
        error_in_200=False,
    )


def without(text: str) -> str:
    """The text without steering lines."""
    return "\n".join(line for line in text.split("\n") if not _is_steering(line)).strip()


def _decode(line: str) -> Steering:
    try:
        steering = msgspec.json.decode(line.removeprefix(SIGN), type=Steering)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidSteering(f"Invalid {SIGN} line: {error}") from error
    if len(steering.faults()) > 1:
        raise InvalidSteering(f"Invalid {SIGN} line: one fault at a time, not {steering.faults()}.")
    if steering.times is not None and steering.marker is None:
        raise InvalidSteering(f"Invalid {SIGN} line: calls are counted by their marker; give one.")
    return steering


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if _is_steering(line)]


def _is_steering(line: str) -> bool:
    return line.lstrip().startswith(SIGN + " ")
