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

    The answer of a chat:
    - `text` is the answer, `tokens` its words (or words of the usual prose), `reasoning_tokens` the
      reasoning before it. `cached_tokens` of the prompt were read from a cache,
      `cache_write_tokens` were written to one.
    - `refusal`: the model declines, without words unless `text` or `tokens` give some. `blocked`:
      moderation stops the prompt. Both as the provider does it, for pictures too.
    - `finish`: the finish reason in the provider's words; for FLUX the final status. `cut`: the
      answer ends after so many words as at its output limit; asked to, the model goes on.
    - `tool_calls` are made, offered or not, after the words of `text` or `tokens`, until they have
      results; each word of their arguments is a token like any other. `calls_forever`: results
      count for nothing, whoever decided on the calls. `bad_arguments`: they are no JSON.
    - `no_usage`, `zero_usage`; `restate_usage`: early usage in a stream is too low.

    Times and format:
    - `ttft_ms` before anything; `delay_ms` for each word, or before any answer but a chat's.
    - The events of a stream have 1 to 50 words each, as many as the answer decides, or at most
      `delta_tokens`; never more than come in 0.2 s.
    - `comments`, `crlf` and `split` (inside a character) change how a stream's events are written.

    Faults:
    - `status` or `fail: before` is an HTTP error with the provider's `code` and `retry_after`
      (seconds); with another fault, `status` and `code` are those of its error.
    - `fail: after` is an error in mid-stream, `error_in_200` an error in place of an answer, `drop`
      a TCP reset; `hang`, `bad_json` and `truncate` are what their names say.
    - `after_tokens` places a fault in mid-stream. Without it `hang` and `drop` come before the
      first byte, `fail: after`, `bad_json` and `error_in_200` as early as possible, `truncate`
      after the last word.
    - `times`: only this many calls of the marker have the fault.

    Embeddings: the number of `vectors`, and their `dimensions`, whatever the request asks for.

    Pictures: `pictures` is the number for all calls of the marker together, or for one call without
    a marker. `drafts` come before Gemini's picture, FLUX's task needs `polls` polls, and the
    picture of a URL is `missing`. `no_picture` sends other bytes, `padding` adds bytes, and
    `bad_b64` cannot be decoded.

    Operations: `polls` polls before the end, `finish` is `failed` or `uncancellable`. A fault, or
    `missing`, is for the requests `at`, each time or the first `times` times; an operation is begun
    even where the answer to `submit` is lost.

    Video and 3D, in addition: the first `queue` polls say that the task waits. `finish` may be a
    word of Tripo's: `cancelled`, `unknown`, `banned`, `expired`. `blocked` is moderation of what
    was made, `refusal` of the request; `code` is the provider's code of a failed task. `result` is
    what is wrong with the file, each time or the first `times` times: half of it (`broken`), a web
    page (`other_type`), a redirect to port 1, a 403 (`expired`), or `result_bytes` bytes (`huge`),
    which for a film is a valid one. `truncate` at `file` cuts the connection in the middle. Where
    a task has no prompt, the line may be in the description of its picture.

    Audio: a steering line is in a tag of the file, such as its title; `text` is the transcript.

    `marker` names the call in the journal. A line with a `model` counts only for calls of that
    model. A line with `title` counts only for the call that makes the title of the conversation,
    whose prompt shows the message too; lines without `title` do not count for that call.

    In the `text` of a work step, `{mark}` is the mark of its files.

    `competence` names a task of runs that the models know how to do (`competence/`): it counts for
    all steps, and what they say of the task is what they are shown. `clumsy` ones make mistakes,
    which are counted for each step and subtask of the marker.

    A line with a `step` counts only for the steps of a project run of that kind, and with a
    `subtask` only for those about the subtask of that title. Lines without a `step` do not count
    for plans, reviews and replies, which have a form.
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
