"""The `@sim {json}` line with which a prompt steers the simulator; to a real provider mere text."""

from typing import Annotated, Literal

import msgspec

SIGN = "@sim"
MAX_TOKENS = 100_000
MAX_DELAY_MS = 60_000
MAX_PADDING = 64 * 1024 * 1024

Fault = Literal["refuse", "error", "hang", "drop", "bad_json", "truncate", "error_in_200"]
TokenCount = Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKENS)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=MAX_DELAY_MS)]


class InvalidSteering(Exception):
    """The steering line cannot be followed; the text says why."""


class Steering(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the answer shall be like; what is not wished for is as usual. At most one fault.

    The answer of a chat:
    - `text` is said, `tokens` words of it (or of the usual prose), after `reasoning_tokens` of
      thought. `cached_tokens` of the prompt were read from a cache, `cache_write_tokens` written.
    - `refusal`: the model declines, without words unless they are wished for. `blocked`: moderation
      stops the prompt. Each in the provider's own way, pictures too.
    - `finish`: the provider's own word for how it ended, said as it is; FLUX's final status too.
    - `no_usage`, `zero_usage`; `restate_usage`: what a stream says early about usage is too low.

    When and how it travels:
    - `ttft_ms` before anything; `delay_ms` after each word, or before anything but a chat's answer.
    - `comments`, `crlf` and `split` (inside a character) are ways to write a stream's events.

    Faults:
    - `status` or `fail: before` is an HTTP error with the provider's word `code` and `retry_after`
      (seconds); with another fault `status` and `code` are what its error says.
    - `fail: after` is an error in mid-stream, `error_in_200` one in place of an answer, and `hang`,
      `drop` (a TCP reset), `bad_json` and `truncate` are what they say.
    - `after_tokens` places a fault in mid-stream. Without it `hang` and `drop` come before the
      first byte, `fail: after`, `bad_json` and `error_in_200` as early as they can, `truncate`
      after the last word.
    - `times`: the fault befalls only the first so many calls of the marker, then all is well.

    Embeddings: as many `vectors` come, each of `dimensions` numbers, whatever was asked.

    Pictures: all calls of the marker together give so many `pictures`, or one call without a
    marker. `drafts` come before Gemini's, FLUX is asked `polls` times in vain, and a picture at an
    address is `missing` there. `no_picture` are other bytes, `padding` bytes are added, `bad_b64`
    cannot be decoded.

    Audio: a steering line stands in a tag of the file, such as its title; `text` is what is heard.

    `marker` makes the call findable in the journal. A line that names a `model` is for the calls of
    that model alone. One with `title` is for the call that asks for the title of the conversation,
    which shows the message too; all other lines are not.
    """

    model: str | None = None
    title: bool = False
    tokens: TokenCount | None = None
    text: str | None = None
    reasoning_tokens: TokenCount | None = None
    cached_tokens: TokenCount = 0
    cache_write_tokens: TokenCount = 0
    refusal: bool = False
    blocked: bool = False
    finish: str | None = None
    no_usage: bool = False
    zero_usage: bool = False
    restate_usage: bool = False
    delay_ms: Milliseconds = 0
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
    marker: str | None = None

    def faults(self) -> list[Fault]:
        """All faults wished for; a status alone is a refusal."""
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
        """After how many of `total` words a mid-stream fault comes."""
        if self.after_tokens is not None:
            return min(self.after_tokens, total)
        if self.fault == "truncate":
            return total
        return min(1, total) if self.fault == "error" else 0


def read(texts: list[str], model: str, *, for_title: bool = False) -> Steering:
    """The last steering line for the model in the texts of a conversation, or none.

    Raises `InvalidSteering`.
    """
    for line in reversed([line for text in texts for line in _lines(text)]):
        steering = _decode(line)
        if steering.model in (None, model) and steering.title == for_title:
            return steering
    return Steering()


def without_fault(steering: Steering) -> Steering:
    """The same wishes for a call that goes well."""
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
    """The text as a person wrote it, steering lines left out."""
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
