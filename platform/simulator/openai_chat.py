"""OpenAI's `POST /v1/chat/completions` as each vendor speaks it."""

import time

import msgspec

from simulator import answer, openai_request, openai_stream, steering, vendors
from simulator.connection import Connection
from simulator.exchange import Exchange, Refused
from simulator.journal import SHOWN_TEXT, Call
from simulator.openai_request import ChatBody
from simulator.vendors import Json, Vendor


async def respond(call: Call, vendor: Vendor, connection: Connection, body: bytes) -> str:
    """Answer one call and return its outcome. Raises `Refused` before anything is sent, and
    `CallerGone` at any time."""
    exchange = _prepare(call, vendor, connection, openai_request.read(body, vendor))
    await connection.pause(exchange.steering.ttft_ms / 1000)
    if exchange.steering.fault == "refuse":
        raise exchange.refusal()
    if exchange.steering.after_tokens is None or not call.stream:
        await exchange.fall_silent()
    if call.stream:
        return await openai_stream.send(exchange)
    return await _send_whole(exchange)


def _prepare(call: Call, vendor: Vendor, connection: Connection, body: ChatBody) -> Exchange:
    call.model = body.model
    call.stream = bool(body.stream)
    call.max_tokens = body.bound
    call.prompt_tokens = body.prompt_tokens
    call.user_text = body.question[:SHOWN_TEXT]
    try:
        wishes = steering.read(body.texts)
    except steering.InvalidSteering as error:
        raise Refused(400, vendors.problem(400, str(error))) from error
    call.marker = wishes.marker
    planned = answer.compose(steering.without(body.question), body.model, wishes, body.bound)
    call.completion_tokens = len(planned.words) + len(planned.reasoning)
    call.reasoning_tokens = len(planned.reasoning)
    return Exchange(
        call=call,
        vendor=vendor,
        steering=wishes,
        answer=planned,
        connection=connection,
        include_usage=body.include_usage,
        created=int(time.time()),
    )


async def _send_whole(exchange: Exchange) -> str:
    connection, wishes = exchange.connection, exchange.steering
    await connection.pause(wishes.delay_ms * len(exchange.answer.words) / 1000)
    if wishes.fault == "error":
        raise exchange.refusal()
    if wishes.fault == "error_in_200":
        await connection.send_json(200, exchange.error(), exchange.headers)
        return "error_in_200"
    encoded = msgspec.json.encode(_completion(exchange))
    if wishes.fault is not None:  # bad_json and truncate are the same where there is one body
        await connection.send_body(200, encoded[: len(encoded) // 2], exchange.headers)
        return wishes.fault
    exchange.call.tokens_emitted = len(exchange.answer.words)
    exchange.call.reasoning_emitted = len(exchange.answer.reasoning)
    await connection.send_body(200, encoded, exchange.headers)
    return "completed"


def _completion(exchange: Exchange) -> Json:
    message: Json = {
        "role": "assistant",
        "content": exchange.answer.text,
        "refusal": None,
        "annotations": [],
    }
    if exchange.vendor.reasoning_field and exchange.answer.reasoning:
        message[exchange.vendor.reasoning_field] = "".join(exchange.answer.reasoning)
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": exchange.answer.finish,
    }
    completion = exchange.envelope("chat.completion", [choice])
    usage = exchange.usage()
    if usage is not None:
        completion["usage"] = usage
    return completion
