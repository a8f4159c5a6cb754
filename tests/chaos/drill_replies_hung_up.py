"""Clients that hang up, at every stage of a message: either nothing was sent, or its reply is
completed and billed once."""

import json
import socket
import struct
import time

import pytest

from billing.models import Charge, LedgerEntry
from billing.tests.bank import wallet_of
from conversations.models import Message
from devserver.ports import LOOPBACK
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import customer
from tests.service import Web
from tests.talk import Reading, Talk

pytestmark = pytest.mark.usefixtures("committed")

# Seconds from the last byte of a request to the end of its connection: before it is read, while it
# is checked and held for, while the provider is asked.
MOMENTS = [0.002 * 1.6**number for number in range(14)]
_RESET = struct.pack("ii", 1, 0)


def test_half_a_message_is_none(web: Web) -> None:
    talk = Talk(customer("alice"))
    request = _request(talk, {"content": talk.content(tokens=3)})

    for length in (len(request) // 3, len(request) - 1):
        _send_and_hang_up(web, request[:length], after=0.05)

    time.sleep(0.5)
    assert not Message.objects.filter(conversation=talk.id).exists()
    assert not Charge.objects.filter(account=talk.owner).exists()


@pytest.mark.parametrize("with_reset", [False, True], ids=["closed", "reset"])
def test_who_hangs_up_before_the_answer_has_sent_a_message_or_none(
    web: Web, simulator: RunningSimulator, with_reset: bool
) -> None:
    alice = customer("alice")
    talks = [Talk(alice) for _ in MOMENTS]
    for talk, moment in zip(talks, MOMENTS, strict=True):
        request = _request(talk, {"content": talk.content(tokens=5, delay_ms=20)})
        _send_and_hang_up(web, request, after=moment, with_reset=with_reset)
    time.sleep(0.5)
    calls.wait_for(lambda: not any(talk.runs() for talk in talks))

    sent = [talk for talk in talks if Message.objects.filter(conversation=talk.id).exists()]
    for talk in sent:
        _assert_completed_and_billed(talk, simulator, tokens=5)
    for talk in set(talks) - set(sent):
        assert simulator.calls(talk.marker) == []
    assert sent
    assert LedgerEntry.objects.filter(account=alice, kind="charge").count() == len(sent)
    assert wallet_of(alice).held == 0


@pytest.mark.parametrize("stage", ["start", "reasoning-start", "text-start", "text-end"])
def test_who_hangs_up_in_the_answer_loses_nothing_of_the_reply(
    web: Web, simulator: RunningSimulator, stage: str
) -> None:
    talk, reading = Talk(customer("alice")), Reading()
    options = {"tokens": 20, "reasoning_tokens": 5, "ttft_ms": 200, "delay_ms": 30}

    with talk.sent(web.url, **options) as response:
        reading.follow(response).until(lambda reading: reading.has(stage))
    calls.wait_for(lambda: not talk.runs())

    _assert_completed_and_billed(talk, simulator, tokens=20)
    assert len(talk.reply.reasoning.split()) == 5
    assert talk.reply.content.startswith(reading.text)


def test_who_stops_reading_holds_nothing_up(web: Web, simulator: RunningSimulator) -> None:
    """The reply of a client whose buffers are full goes on."""
    talk = Talk(customer("alice"))
    words = "x" * 500  # 1 MB in all: more than that is no answer of 8,192 tokens

    with socket.create_connection((LOOPBACK, web.port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(_request(talk, {"content": talk.content(text=words, tokens=2000)}))
        calls.wait_for(lambda: talk.replies().filter(status="completed").exists(), seconds=20)

    _assert_completed_and_billed(talk, simulator, tokens=2000)


def _request(talk: Talk, body: dict[str, str]) -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"POST {talk.path}/messages HTTP/1.1\r\nHost: {LOOPBACK}\r\n"
        f"Authorization: Bearer {talk.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def _send_and_hang_up(web: Web, request: bytes, *, after: float, with_reset: bool = False) -> None:
    with socket.create_connection((LOOPBACK, web.port)) as client:
        client.sendall(request)
        time.sleep(after)
        if with_reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


def _assert_completed_and_billed(talk: Talk, simulator: RunningSimulator, *, tokens: int) -> None:
    """There is the message and its whole reply, which was made once and paid once."""
    assert Message.objects.filter(conversation=talk.id).count() == 2
    assert (talk.reply.status, len(talk.reply.content.split())) == ("completed", tokens)
    assert [call["outcome"] for call in simulator.calls(talk.marker)] == ["completed"]
    assert talk.charge.status == "settled"
    assert talk.charge.charge_balance == 2 * talk.charge.cost > 0
