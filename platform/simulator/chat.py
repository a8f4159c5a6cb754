"""Answers a chat call in any wire: reads the steering, composes the answer, sends it."""

import time
from collections.abc import Callable

from simulator import answer, chat_stream, steering
from simulator.chat_types import Asked, Chat, Form
from simulator.exchange import Arrival, Exchange, steer
from simulator.provider import Problem, Refused


async def respond(arrival: Arrival, asked: Asked, write: Callable[[Chat], Form]) -> str:
    """Answer one call in the form that `write` makes of it, and return its outcome.

    Raises `Refused` before anything is sent, and `CallerGone` at any time.
    """
    exchange = _steered(arrival, asked)
    chat = Chat(exchange, _composed(exchange, asked), created=int(time.time()))
    form = write(chat)
    comes_later = asked.stream and exchange.steering.after_tokens is not None
    await exchange.begin(silent=not comes_later)
    if exchange.steering.blocked and not form.habits.tells_blocks:
        raise Refused(Problem(400, form.habits.blocked_message, form.habits.blocked_code))
    if asked.stream:
        return await chat_stream.send(chat, form)
    return await _send_whole(chat, form)


def _steered(arrival: Arrival, asked: Asked) -> Exchange:
    call = arrival.call
    call.model = asked.model
    call.stream = asked.stream
    call.max_tokens = asked.bound
    call.prompt_tokens = asked.prompt_tokens
    exchange = steer(arrival, asked.texts, asked.question)
    call.cached_tokens = min(exchange.steering.cached_tokens, asked.prompt_tokens)
    return exchange


def _composed(exchange: Exchange, asked: Asked) -> answer.Answer:
    composed = answer.compose(
        steering.without(asked.question),
        asked.model,
        exchange.steering,
        bound=asked.bound,
        thoughts=asked.thoughts,
    )
    exchange.call.completion_tokens = len(composed.words) + len(composed.reasoning)
    exchange.call.reasoning_tokens = len(composed.reasoning)
    return composed


async def _send_whole(chat: Chat, form: Form) -> str:
    exchange, said = chat.exchange, chat.answer

    def emit() -> None:
        exchange.call.tokens_emitted = len(said.words)
        exchange.call.reasoning_emitted = len(said.reasoning) * form.habits.shows_thoughts

    await exchange.connection.pause(exchange.steering.delay_ms * len(said.words) / 1000)
    return await exchange.send_whole(form.whole(), emit)
