"""kill -9 as soon as the log shows something of a reply, or of a card: what it shows is billed."""

import threading
from contextlib import suppress
from typing import Any

import httpx
import pytest

from billing.models import Charge
from billing.tests.bank import kill, wallet_of
from conversations.selectors.messages import text_in_log
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import Council, customer
from tests.service import Web, running_web
from tests.talk import Talk
from tests.worker import running_worker
from work.jobs.sweeps import end_lost_jobs

pytestmark = pytest.mark.usefixtures("committed")

# Long before the first of the checkpoints that are made every two seconds.
WORDS = 5
ENDLESS: dict[str, Any] = {"tokens": 4000, "delay_ms": 20}


def test_a_reply_is_billed_as_far_as_its_log_shows_it(simulator: RunningSimulator) -> None:
    talk = Talk(customer("alice"))
    with running_web(simulator) as doomed:
        sender = threading.Thread(target=_post_in_vain, args=(talk, doomed))
        sender.start()
        calls.wait_for(lambda: talk.runs() and _words(text_in_log(talk.reply.pk).content) > WORDS)
        doomed.kill()
        sender.join()
    kill(talk.charge.owner_id)
    end_lost_jobs()

    assert talk.reply.status == "failed"
    _assert_billed(talk.charge, talk.reply.content, calls.most_billed(simulator, talk.marker))
    assert wallet_of(talk.owner).held == 0


def test_a_card_is_billed_as_far_as_its_log_shows_it(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as doomed:
        council = Council(customer("alice"), **ENDLESS)
        calls.wait_for(lambda: _words(council.streamed_text()) > WORDS)
        doomed.kill()
    kill(council.charge.owner_id)
    end_lost_jobs()

    assert council.ending == ("failed", "interrupted")
    shown = council.generation.content
    _assert_billed(council.charge, shown, calls.most_billed(simulator, council.marker))
    assert wallet_of(council.owner).held == 0


def _assert_billed(charge: Charge, shown: str, most: int) -> None:
    assert charge.status == "expired"
    assert WORDS < _words(shown) <= charge.tokens_out <= most
    assert charge.charge_balance == 2 * charge.cost > 0


def _words(text: str) -> int:
    """The simulator puts out one in each token."""
    return len(text.split())


def _post_in_vain(talk: Talk, web: Web) -> None:
    with suppress(httpx.TransportError):
        talk.post(web.url, **ENDLESS)
