"""The database's word that a transaction of a reply was committed is lost on its way: what was
committed counts, once, and nothing stays behind it."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command

from billing.models import LedgerEntry
from billing.tests.bank import wallet_of
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import customer
from tests.chaos.proxy import LossyProxy
from tests.service import Web, database_url, running_web
from tests.talk import Reading, Talk

pytestmark = pytest.mark.usefixtures("committed")

COMMIT = b"COMMIT"
# After a quarter of a minute the process finds a reply that it is said to write, and does not know.
SOON = 45.0


@pytest.fixture
def proxy() -> Iterator[LossyProxy]:
    """Stands between the web process and the database."""
    with LossyProxy(_port()) as proxy:
        yield proxy


@pytest.fixture
def web(simulator: RunningSimulator, proxy: LossyProxy) -> Iterator[Web]:
    through_proxy = database_url().replace(f":{_port()}/", f":{proxy.port}/")
    with running_web(simulator, DATABASE_URL=through_proxy) as web:
        yield web


def test_a_reply_that_was_begun_and_is_not_known_fails_unbilled(
    web: Web, proxy: LossyProxy, simulator: RunningSimulator
) -> None:
    talk, name = Talk(customer("alice")), uuid7().hex
    Talk(talk.owner).say(web.url, tokens=3)
    paid = wallet_of(talk.owner).balance
    proxy.lose_reply_to = COMMIT

    answer = talk.post(web.url, named=name, tokens=3)

    assert proxy.lost.is_set()
    assert answer.status_code == 503
    assert talk.runs()
    assert talk.post(web.url, tokens=3).status_code == 409
    calls.wait_for(lambda: not talk.runs(), seconds=SOON)
    reply = talk.reply
    assert (reply.status, (reply.error or {})["code"]) == ("failed", "interrupted")
    assert simulator.calls(talk.marker) == []
    assert talk.charge.status == "released"
    assert (wallet_of(talk.owner).balance, wallet_of(talk.owner).held) == (paid, 0)
    # The name is free again, and so is the conversation.
    again = talk.post(web.url, named=name, tokens=3)
    assert again.status_code == 200
    assert "Idempotency-Replayed" not in again.headers
    call_command("reconcile")


def test_an_end_is_told_and_billed_once(
    web: Web, proxy: LossyProxy, simulator: RunningSimulator
) -> None:
    talk, reading = Talk(customer("alice")), Reading()

    with talk.sent(web.url, tokens=30, delay_ms=50) as response:
        reading.follow(response).until(lambda reading: reading.text)
        proxy.lose_reply_to = COMMIT
        reading.to_end()

    assert proxy.lost.is_set()
    calls.wait_for(lambda: not talk.runs())
    assert reading.ended
    assert reading.text == talk.reply.content
    assert (talk.reply.status, len(reading.text.split())) == ("completed", 30)
    assert (talk.charge.status, talk.charge.tokens_out) == ("settled", 30)
    assert LedgerEntry.objects.filter(account=talk.owner, kind="charge").count() == 1
    assert wallet_of(talk.owner).held == 0
    assert talk.say(web.url, tokens=3).ended
    call_command("reconcile")


def _port() -> int:
    port = urlsplit(database_url()).port
    assert port
    return port
