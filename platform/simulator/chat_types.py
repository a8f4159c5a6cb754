"""What is the same in every chat wire: what is asked, what is answered, what it cost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from simulator.answer import Answer, Ending
from simulator.exchange import Exchange
from simulator.provider import Json

TOKENS_PER_MESSAGE = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request. `texts` are all its messages, `question` the last one of the user; `bound`
    limits the tokens of the answer, `thoughts` says how many of them are reasoning unless steered.
    """

    model: str
    stream: bool
    texts: list[str]
    question: str
    bound: int | None
    thoughts: int = 0

    @property
    def prompt_tokens(self) -> int:
        """Words of all messages and a few tokens for each message's frame."""
        return sum(len(text.split()) + TOKENS_PER_MESSAGE for text in self.texts)


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one answer. `text` and `reasoning` do not overlap; `prompt` includes what was read
    from a cache and what was written to one."""

    prompt: int
    text: int
    reasoning: int
    cached: int = 0
    cache_written: int = 0


@dataclass(frozen=True, slots=True)
class Chat:
    """One chat call being answered. `created` is in Unix seconds."""

    exchange: Exchange
    answer: Answer
    created: int

    def spent(self, words: int | None = None) -> Spent | None:
        """The usage to report, after `words` words or all; true unless steered otherwise."""
        call, wishes = self.exchange.call, self.exchange.steering
        if wishes.no_usage:
            return None
        if wishes.zero_usage:
            return Spent(0, 0, 0)
        text = len(self.answer.words) if words is None else words
        read = call.cached_tokens
        written = min(wishes.cache_write_tokens, call.prompt_tokens - read)
        return Spent(call.prompt_tokens, text, len(self.answer.reasoning), read, written)

    def finish(self, words: Mapping[Ending, str]) -> str:
        """How the answer ended, in the provider's words."""
        return self.exchange.steering.finish or words[self.answer.ending]


@dataclass(frozen=True, slots=True)
class Habits:
    """How a wire behaves around its answers.

    `tells_blocks`: a prompt that moderation stops gets an answer, elsewhere a 400 with
    `blocked_message` and the word `blocked_code`.
    `plain_error_in_200`: a streamed call that fails late is answered with plain JSON. `comment` is
    what a stream's comments say, `opens_with_comment` that there is one without being wished for.
    """

    shows_thoughts: bool = True
    tells_blocks: bool = False
    blocked_code: str | None = "content_filter"
    blocked_message: str = "This prompt is against the usage policy."
    plain_error_in_200: bool = False
    crlf: bool = False
    comment: str = "keep-alive"
    opens_with_comment: bool = False


class Form(Protocol):
    """One answer as a wire writes it: one body, or the blocks of an event stream with LF ends."""

    @property
    def habits(self) -> Habits: ...

    def whole(self) -> Json: ...

    def opening(self) -> Iterator[bytes]: ...

    def thought(self, token: str) -> Iterator[bytes]: ...

    def word(self, token: str) -> Iterator[bytes]: ...

    def closing(self) -> Iterator[bytes]: ...

    def failure(self) -> bytes:
        """The steered error as an event."""
        ...

    def broken(self) -> bytes:
        """An event whose JSON stops in the middle."""
        ...
