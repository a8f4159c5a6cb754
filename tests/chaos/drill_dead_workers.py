"""Workers that are killed, or stand still, under the calls of councils: within a minute each call
is over, at what it had said and was saved of it; it is billed once, and can be made again."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.core.management import call_command
from django.db.models import QuerySet

from billing.models import Charge, LedgerEntry, Wallet
from billing.tests.bank import wallet_of
from council.models import Generation
from events.models import Event
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import Council, customer
from tests.locks import wait_until_blocked
from tests.service import database_url
from tests.worker import running_beat, running_worker
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed")

MINUTE = 60.0
# Longer than all of the test.
ENDLESS = {"tokens": 4000, "delay_ms": 30}
FAILED = ("failed", "interrupted")


def test_their_calls_fail_within_a_minute_wherever_they_were(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    """One of two workers stands still, and comes to itself when all is over. The other is killed:
    while a card is written, before a charge is held, in the middle of a settlement, and just after
    one."""
    with running_worker(simulator) as frozen:
        standing = Council(customer("alice"), **ENDLESS)
        calls.wait_for(standing.is_saved)
        frozen.freeze()
        with running_worker(simulator) as killed:
            settled = Council(customer("bob"), tokens=3)
            written = Council(customer("charlie"), **ENDLESS)
            ending = Council(customer("dora"), tokens=40, delay_ms=100)
            calls.wait_for(lambda: settled.has_ended and written.is_saved() and ending.is_saved())
            with _held("council_session", "id", ending.session.pk) as session:
                wait_until_blocked(session)
                eva = customer("eva")
                with _held("billing_wallet", "account_id", eva.pk) as wallet:
                    waiting = Council(eva, tokens=3)
                    wait_until_blocked(wallet)
                    killed.kill()
                    killed_at = time.monotonic()
        saved = {council: council.charge for council in (standing, written, ending)}
        with running_worker(simulator), running_beat(simulator, tmp_path):
            lost = (standing, written, ending, waiting)
            calls.wait_for(lambda: all(council.has_ended for council in lost), seconds=MINUTE)
            assert time.monotonic() - killed_at < MINUTE
            for council, charge in saved.items():
                _assert_failed_with_what_it_had(council, charge)
            left = _all_there_is(standing)
            frozen.thaw()
            calls.wait_for(lambda: simulator.calls(standing.marker)[0]["outcome"] == "client_gone")
            written.regenerate(tokens=3)
            calls.wait_for(lambda: written.has_ended)

    assert _all_there_is(standing) == left
    assert written.generation.status == "completed"
    assert len(written.streamed_text(version=2).split()) == 3
    assert waiting.ending == FAILED
    assert (waiting.streamed_text(), simulator.calls(waiting.marker)) == ("", [])
    assert (settled.ending, settled.charge.status) == (("completed", None), "settled")
    assert len(simulator.calls(settled.marker)) == 1
    for council in (settled, standing, written, ending, waiting):
        assert wallet_of(council.owner).held == 0
    call_command("reconcile")


def _assert_failed_with_what_it_had(council: Council, saved: Charge) -> None:
    """It keeps the text that was told, and is billed as far as was saved, once."""
    charge = council.charge
    assert council.ending == FAILED
    assert council.generation.content == council.streamed_text() != ""
    assert charge.status == "expired"
    assert charge.charge_balance == 2 * charge.cost > 0
    assert (charge.tokens_out, charge.cost) == (saved.tokens_out, saved.cost)
    assert LedgerEntry.objects.filter(account=council.owner, kind="charge").count() == 1


def _all_there_is(council: Council) -> list[list[Any]]:
    """Every row that a call may write."""
    tables: tuple[QuerySet[Any], ...] = (
        Event.objects.filter(stream=council.session.pk).order_by("seq"),
        Generation.objects.filter(session=council.session),
        Job.objects.filter(pk=council.generation.pk),
        Charge.objects.filter(account=council.owner),
        LedgerEntry.objects.filter(account=council.owner),
        Wallet.objects.filter(account=council.owner),
    )
    return [list(table.values()) for table in tables]


@contextmanager
def _held(table: str, column: str, key: UUID) -> Iterator[psycopg.Connection[Any]]:
    """Somebody else holds that row."""
    with psycopg.connect(database_url()) as holder:
        holder.execute(f"SELECT FROM {table} WHERE {column} = %s FOR UPDATE", (key,))
        yield holder
