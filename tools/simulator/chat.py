"""Answers a chat call on any wire: reads the steering, composes the answer, sends the answer."""

import time
from collections.abc import Callable

from simulator import answer, chat_stream, steering
from simulator.chat_types import Chat, ChatRequest, Form
from simulator.exchange import Arrival, Exchange, steer
from simulator.provider import Problem, Refused


async def respond(
    arrival: Arrival, chat_request: ChatRequest, write: Callable[[Chat], Form]
) -> str:
    """Answer one call in the form that `write` gives the answer, and return the outcome.

    Raises `Refused` before anything is sent, and `CallerGone` at any time.
    """
    exchange = _steered(arrival, chat_request)
    chat = Chat(exchange, _composed(exchange, chat_request), created=int(time.time()))
    form = write(chat)
    comes_later = chat_request.stream and exchange.steering.after_tokens is not None
    await exchange.begin(silent=not comes_later)
    if exchange.steering.blocked and not form.dialect.answers_blocked_prompts:
        raise Refused(Problem(400, form.dialect.blocked_message, form.dialect.blocked_code))
    if chat_request.stream:
        return await chat_stream.send(chat, form)
    return await _send_whole(chat, form)


def _steered(arrival: Arrival, chat_request: ChatRequest) -> Exchange:
    call = arrival.call
    call.model = chat_request.model
    call.stream = chat_request.stream
    call.max_tokens = chat_request.bound
    call.prompt_tokens = chat_request.prompt_tokens
    exchange = steer(arrival, chat_request.texts, chat_request.question)
    call.cached_tokens = min(exchange.steering.cached_tokens, chat_request.prompt_tokens)
    return exchange


def _composed(exchange: Exchange, chat_request: ChatRequest) -> answer.Answer:
    composed = answer.compose(
        [*map(steering.without, chat_request.texts[:-1]), steering.without(chat_request.question)],
        chat_request.model,
        exchange.steering,
        bound=chat_request.bound,
        thoughts=chat_request.thoughts,
        task=chat_request.task,
        slip=exchange.slip,
    )
    exchange.call.completion_tokens = len(composed.spoken) + len(composed.reasoning)
    exchange.call.reasoning_tokens = len(composed.reasoning)
    return composed


async def _send_whole(chat: Chat, form: Form) -> str:
    exchange, reply = chat.exchange, chat.answer

    def emit() -> None:
        exchange.call.tokens_emitted = len(reply.spoken)
        exchange.call.reasoning_emitted = len(reply.reasoning) * form.dialect.shows_thoughts
        shown = reply.reasoning if form.dialect.shows_thoughts else ()
        exchange.call.bytes_emitted = len("".join((*shown, *reply.spoken)).encode())

    await exchange.connection.pause(exchange.steering.delay_ms * len(reply.spoken) / 1000)
    return await exchange.send_whole(form.whole(), emit)
