"""SIGTERM under replies: no new ones, running ones end, and what is left is settled before the
process goes."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import customer
from tests.service import Web, running_web
from tests.talk import Reading, Talk
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def test_a_reply_that_ends_within_the_drain_time_is_told_to_its_end(
    simulator: RunningSimulator,
) -> None:
    talk = Talk(customer("alice"))

    with running_web(simulator) as web, ThreadPoolExecutor(2) as threads:
        reader = threads.submit(talk.say, web.url, tokens=40, delay_ms=50)
        calls.wait_for(lambda: simulator.calls(talk.marker))
        _drain(web)
        reading = reader.result(timeout=20)
        assert web.process.wait_stopped()

    assert (reading.part("finish")["finishReason"], reading.ended) == ("stop", True)
    assert reading.text == talk.reply.content
    assert (talk.reply.status, len(reading.text.split())) == ("completed", 40)
    assert (talk.charge.status, talk.charge.tokens_out) == ("settled", 40)
    assert not Lease.objects.filter(pk=talk.charge.owner_id).exists()


def test_a_reply_that_outlasts_the_drain_time_fails_with_what_was_produced(
    web: Web, simulator: RunningSimulator
) -> None:
    """Its text stays, its readers are told, and the conversation goes on elsewhere."""
    talk = Talk(customer("alice"))

    with running_web(simulator, DRAIN_SECONDS="1") as ending, ThreadPoolExecutor(1) as threads:
        reader = threads.submit(talk.say, ending.url, tokens=500, delay_ms=50)
        calls.wait_for(lambda: simulator.calls(talk.marker))
        calls.wait_for(talk.is_saved)
        _drain(ending)
        reading = reader.result(timeout=20)
        assert ending.process.wait_stopped()

    reply, charge = talk.reply, talk.charge
    assert (reply.status, charge.status) == ("failed", "settled")
    assert reading.text == reply.content != ""
    assert reply.error is not None
    assert reading.part("error")["code"] == reply.error["code"] == "service_unavailable"
    assert (reading.part("finish")["finishReason"], reading.ended) == ("error", True)
    assert len(reading.text.split()) <= charge.tokens_out < 500
    assert reading.part("finish")["usage"]["output_tokens"] == charge.tokens_out
    assert not Lease.objects.filter(pk=charge.owner_id).exists()
    assert talk.say(web.url, tokens=3).ended


def test_a_reply_whose_reader_has_gone_is_drained_too(simulator: RunningSimulator) -> None:
    talk = Talk(customer("alice"))

    with running_web(simulator) as web:
        with talk.sent(web.url, tokens=40, delay_ms=50) as response:
            Reading().follow(response).until(lambda reading: reading.has("start"))
        _drain(web)
        assert web.process.wait_stopped()

    assert (talk.reply.status, len(talk.reply.content.split())) == ("completed", 40)
    assert (talk.charge.status, talk.charge.tokens_out) == ("settled", 40)


def test_who_follows_at_a_process_that_ends_goes_on_at_another(
    web: Web, simulator: RunningSimulator
) -> None:
    talk, reading = Talk(customer("alice")), Reading()

    with ThreadPoolExecutor(1) as threads:
        with running_web(simulator) as ending:
            whole = threads.submit(talk.say, web.url, tokens=200, delay_ms=50)
            calls.wait_for(talk.runs)
            with talk.opened(ending.url) as response:
                reading.follow(response).until(lambda reading: reading.text)
                _drain(ending)
                # Cut or ended, one is as good as the other.
                with suppress(httpx.TransportError):
                    reading.to_end()
                assert ending.process.wait_stopped()
        assert not reading.ended
        after = {"Last-Event-ID": str(reading.offset)}
        with talk.opened(web.url, "GET", "/stream", **after) as response:
            reading.read(response)

    assert reading.text == whole.result().text == talk.reply.content
    assert reading.part("finish") == whole.result().part("finish")


def _drain(web: Web) -> None:
    os.kill(web.process.pid, signal.SIGTERM)
