"""The `@sim {json}` line with which a prompt steers the simulator; to a real provider mere text."""

from typing import Annotated, Literal

import msgspec

SIGN = "@sim"
MAX_TOKENS = 100_000
MAX_DELAY_MS = 60_000

Fault = Literal["refuse", "error", "hang", "drop", "bad_json", "truncate", "error_in_200"]
TokenCount = Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKENS)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=MAX_DELAY_MS)]


class InvalidSteering(Exception):
    """The steering line cannot be followed; the text says why."""


class Steering(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the answer shall be like. At most one fault: `fault` says which.

    `after_tokens` places a fault in mid-stream. Without it `hang` and `drop` come before the first
    byte, `fail: after`, `bad_json` and `error_in_200` as early as they can, `truncate` after the
    last word.
    """

    tokens: TokenCount | None = None
    text: str | None = None
    reasoning_tokens: TokenCount = 0
    delay_ms: Milliseconds = 0
    ttft_ms: Milliseconds = 0
    fail: Literal["before", "after"] | None = None
    status: Annotated[int, msgspec.Meta(ge=400, le=599)] | None = None
    code: str | None = None
    retry_after: Annotated[int, msgspec.Meta(ge=0)] | None = None
    after_tokens: TokenCount | None = None
    hang: bool = False
    drop: bool = False
    bad_json: bool = False
    truncate: bool = False
    error_in_200: bool = False
    no_usage: bool = False
    zero_usage: bool = False
    comments: bool = False
    crlf: bool = False
    split: bool = False
    marker: str | None = None

    def faults(self) -> list[Fault]:
        named: dict[Fault, bool] = {
            "refuse": self.fail == "before" or (self.fail is None and self.status is not None),
            "error": self.fail == "after",
            "hang": self.hang,
            "drop": self.drop,
            "bad_json": self.bad_json,
            "truncate": self.truncate,
            "error_in_200": self.error_in_200,
        }
        return [fault for fault, wanted in named.items() if wanted]

    @property
    def fault(self) -> Fault | None:
        return next(iter(self.faults()), None)

    def fault_position(self, total: int) -> int:
        """After how many of `total` words a mid-stream fault comes."""
        if self.after_tokens is not None:
            return min(self.after_tokens, total)
        if self.fault == "truncate":
            return total
        return min(1, total) if self.fault == "error" else 0


def read(texts: list[str]) -> Steering:
    """The last steering line in the texts of a conversation, or none. Raises `InvalidSteering`."""
    found = [line for text in texts for line in _lines(text)]
    if not found:
        return Steering()
    try:
        steering = msgspec.json.decode(found[-1].removeprefix(SIGN), type=Steering)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidSteering(f"Invalid {SIGN} line: {error}") from error
    if len(steering.faults()) > 1:
        raise InvalidSteering(f"Invalid {SIGN} line: one fault at a time, not {steering.faults()}.")
    return steering


def without(text: str) -> str:
    """The text as a person wrote it, steering lines left out."""
    return "\n".join(line for line in text.split("\n") if not _is_steering(line)).strip()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if _is_steering(line)]


def _is_steering(line: str) -> bool:
    return line.lstrip().startswith(SIGN + " ")
