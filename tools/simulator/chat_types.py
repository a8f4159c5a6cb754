"""The common types of all chat wires: request, usage, answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from simulator.answer import Answer, Ending
from simulator.exchange import Exchange
from simulator.functions import FunctionCall, Task
from simulator.provider import Json
from simulator.tokens import TOKENS_PER_MESSAGE


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat request. `texts` are all its messages, `question` the last message of the user.
    `bound` limits the tokens of the answer; `thoughts` is the number of reasoning tokens unless
    steered. `other_tokens` are those of functions, earlier calls and pictures."""

    model: str
    stream: bool
    texts: list[str]
    question: str
    bound: int | None
    thoughts: int = 0
    task: Task | None = None
    other_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """The words of all messages, a constant number of tokens for each message, and others."""
        words = sum(len(text.split()) + TOKENS_PER_MESSAGE for text in self.texts)
        return words + self.other_tokens


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer. `text` and `reasoning` do not overlap; `prompt` includes the tokens
    that a cache read or wrote."""

    prompt: int
    text: int
    reasoning: int
    cached: int = 0
    cache_written: int = 0


@dataclass(frozen=True, slots=True)
class Chat:
    """One chat call with its answer. `created` is in Unix seconds."""

    exchange: Exchange
    answer: Answer
    created: int

    def usage(self, words: int | None = None) -> Usage | None:
        """The usage to report after `words` spoken tokens, or after all; true unless steered."""
        call, options = self.exchange.call, self.exchange.steering
        if options.no_usage:
            return None
        if options.zero_usage:
            return Usage(0, 0, 0)
        text = len(self.answer.spoken) if words is None else words
        read = call.cached_tokens
        written = min(options.cache_write_tokens, call.prompt_tokens - read)
        return Usage(call.prompt_tokens, text, len(self.answer.reasoning), read, written)

    def finish(self, words: Mapping[Ending, str]) -> str:
        """The finish reason, in the provider's words."""
        return self.exchange.steering.finish or words[self.answer.ending]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences of a wire from the others.

    `answers_blocked_prompts`: a prompt that moderation blocks gets an answer; on other wires it
    gets a 400 with `blocked_message` and the code `blocked_code`. `plain_error_in_200`: a streamed
    call that fails late is answered with plain JSON. `comment` is the text of a stream's comments;
    `opens_with_comment`: a stream begins with one. `whole_calls`: a call comes in one event, or not
    at all.
    """

    shows_thoughts: bool = True
    answers_blocked_prompts: bool = False
    blocked_code: str | None = "content_filter"
    blocked_message: str = "This prompt is against the usage policy."
    plain_error_in_200: bool = False
    crlf: bool = False
    comment: str = "keep-alive"
    opens_with_comment: bool = False
    whole_calls: bool = False


class Form(Protocol):
    """One answer in the form of a wire: one body, or the blocks of an event stream with LF ends."""

    @property
    def dialect(self) -> Dialect: ...

    def whole(self) -> Json: ...

    def opening(self) -> Iterator[bytes]: ...

    def thought(self, text: str) -> Iterator[bytes]: ...

    def words(self, tokens: Sequence[str]) -> Iterator[bytes]: ...

    def call(self, call: FunctionCall) -> Iterator[bytes]:
        """The beginning of the next call."""
        ...

    def arguments(self, call: FunctionCall, tokens: Sequence[str]) -> Iterator[bytes]:
        """Some tokens of the arguments of the call that began last."""
        ...

    def closing(self) -> Iterator[bytes]: ...

    def failure(self) -> bytes:
        """The steered error as an event."""
        ...

    def broken(self) -> bytes:
        """An event whose JSON stops in the middle."""
        ...
