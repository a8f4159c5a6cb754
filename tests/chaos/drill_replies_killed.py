"""kill -9 of the web process in the middle of replies: within a minute each has failed with what
was stored of it, is billed for that once, and its conversation goes on."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID

import httpx
import psycopg
import pytest
from django.core.management import call_command

from billing.models import Charge, LedgerEntry
from billing.tests.bank import kill, wallet_of
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import customer
from tests.locks import wait_until_blocked
from tests.service import Web, database_url, running_web
from tests.talk import Reading, Talk
from tests.worker import running_beat, running_worker
from work.jobs.sweeps import end_lost_jobs

pytestmark = pytest.mark.usefixtures("committed")

NAMES = ("alice", "bob", "charlie", "dora")
MINUTE = 60.0
# Longer than all of the test.
ENDLESS = {"tokens": 4000, "delay_ms": 30}
SILENT = {"ttft_ms": 60_000}
# The log is a quarter of a second behind; and the machine may be busy.
WORDS_BEHIND = 40


def test_they_fail_within_a_minute_wherever_they_were(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    """Before any output, while text is written, in the middle of the end, and just after it."""
    with running_web(simulator) as doomed, ThreadPoolExecutor(4) as threads:
        done, silent, written, ending = (Talk(customer(name)) for name in NAMES)
        assert done.say(doomed.url, tokens=3).ended
        unheard = threads.submit(_read_until_cut, silent, doomed, **SILENT)
        calls.wait_for(lambda: simulator.calls(silent.marker))
        heard = threads.submit(_read_until_cut, written, doomed, **ENDLESS)
        calls.wait_for(written.is_saved)
        last_heard = threads.submit(_read_until_cut, ending, doomed, tokens=40, delay_ms=100)
        calls.wait_for(ending.is_saved)
        with _held(ending.id) as holder:
            wait_until_blocked(holder)
            doomed.kill()
            killed_at = time.monotonic()
            saved = {talk: talk.charge for talk in (silent, written, ending)}
    with (
        running_web(simulator) as web,
        running_worker(simulator),
        running_beat(simulator, tmp_path),
    ):
        calls.wait_for(lambda: not any(talk.runs() for talk in saved), seconds=MINUTE)
        assert time.monotonic() - killed_at < MINUTE
        _assert_failed_with_what_was_stored(written, web, heard, saved[written], simulator)
        _assert_failed_with_what_was_stored(ending, web, last_heard, saved[ending], simulator)
        _assert_nothing_came_of(silent, web, unheard)
        for talk in (done, silent, written, ending):
            before = "completed" if talk is done else "failed"
            assert len(talk.say(web.url, tokens=3).text.split()) == 3
            assert [reply.status for reply in talk.replies()] == [before, "completed"]
            assert wallet_of(talk.owner).held == 0
    call_command("reconcile")


def test_what_is_sent_again_under_its_name_is_neither_lost_nor_billed_twice(
    simulator: RunningSimulator, web: Web
) -> None:
    """Who was billed for a part of a reply gets that again; who got nothing gets a reply."""
    written, silent = Talk(customer("alice")), Talk(customer("bob"))
    name, late = uuid7().hex, {"ttft_ms": 3000, "tokens": 3}
    with running_web(simulator) as doomed, ThreadPoolExecutor(2) as threads:
        threads.submit(_post_in_vain, written, doomed, name, ENDLESS)
        threads.submit(_post_in_vain, silent, doomed, name, late)
        calls.wait_for(lambda: written.is_saved() and simulator.calls(silent.marker))
        doomed.kill()

    while_leased = written.post(web.url, named=name, **ENDLESS)
    for talk in (written, silent):
        kill(talk.charge.owner_id)
    end_lost_jobs()
    replayed = written.post(web.url, named=name, **ENDLESS)
    again = silent.post(web.url, named=name, **late)

    assert while_leased.status_code == 409
    assert while_leased.json()["code"] == "idempotency_in_progress"
    assert replayed.headers["Idempotency-Replayed"] == "true"
    assert "interrupted" in replayed.text
    assert len(simulator.calls(written.marker)) == 1
    assert LedgerEntry.objects.filter(account=written.owner, kind="charge").count() == 1
    assert again.status_code == 200
    assert "Idempotency-Replayed" not in again.headers
    assert LedgerEntry.objects.filter(account=silent.owner, kind="charge").count() == 1


def _assert_failed_with_what_was_stored(
    talk: Talk, web: Web, heard: Future[Reading], saved: Charge, simulator: RunningSimulator
) -> None:
    """It keeps the text that was stored, and is billed as far as was saved, once."""
    reading, charge = heard.result(), talk.charge
    [_, message] = talk.ask(web.url, "GET").json()["messages"]
    assert (message["status"], message["error"]["code"]) == ("failed", "interrupted")
    assert message["content"] == talk.reply.content != ""
    assert reading.text.startswith(message["content"])
    assert len(reading.text.split()) - len(message["content"].split()) < WORDS_BEHIND
    assert not reading.ended
    assert charge.status == "expired"
    assert charge.charge_balance == 2 * charge.cost > 0
    assert (charge.tokens_out, charge.cost) == (saved.tokens_out, saved.cost)
    assert 0 < charge.tokens_out <= calls.most_billed(simulator, talk.marker)
    assert message["usage"]["output_tokens"] == charge.tokens_out
    assert LedgerEntry.objects.filter(account=talk.owner, kind="charge").count() == 1
    assert talk.ask(web.url, "GET", "/stream").status_code == 204


def _assert_nothing_came_of(talk: Talk, web: Web, heard: Future[Reading]) -> None:
    """It is over, unbilled."""
    [_, message] = talk.ask(web.url, "GET").json()["messages"]
    assert (message["status"], message["error"]["code"]) == ("failed", "interrupted")
    assert (message["content"], heard.result().text) == ("", "")
    assert talk.charge.cost == 0
    assert not LedgerEntry.objects.filter(account=talk.owner, kind="charge").exists()


def _read_until_cut(talk: Talk, web: Web, **options: object) -> Reading:
    reading = Reading()
    with suppress(httpx.TransportError), talk.sent(web.url, **options) as response:
        reading.read(response)
    return reading


def _post_in_vain(talk: Talk, web: Web, name: str, options: dict[str, int]) -> None:
    with suppress(httpx.TransportError):
        talk.post(web.url, named=name, **options)


@contextmanager
def _held(conversation_id: UUID) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Somebody else holds that row, which the end of a reply needs."""
    with psycopg.connect(database_url()) as holder:
        holder.execute(
            "SELECT FROM conversations_conversation WHERE id = %s FOR UPDATE", (conversation_id,)
        )
        yield holder
