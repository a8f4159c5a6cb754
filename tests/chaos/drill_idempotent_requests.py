"""A process dies under a request with an Idempotency-Key: it is neither billed twice nor stuck."""

import threading
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from accounts.models import User
from billing.models import Charge
from billing.tests.bank import kill
from common.ids import uuid7
from common.money import NUSD_PER_USD
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.proxy import LossyProxy
from tests.personas import new_key, new_user
from tests.service import Web, database_url, running_web

pytestmark = pytest.mark.usefixtures("committed")


def test_a_crash_between_settlement_and_answer_keeps_the_answer(
    web: Web, simulator: RunningSimulator
) -> None:
    alice, key = _customer()
    marker, named = uuid7().hex, uuid7().hex
    request = calls.body(marker, tokens=20)
    port = urlsplit(database_url()).port
    assert port

    with LossyProxy(port) as proxy:
        through_proxy = database_url().replace(f":{port}/", f":{proxy.port}/")
        with running_web(simulator, DATABASE_URL=through_proxy) as doomed:
            proxy.then_refuse = True
            proxy.lose_reply_to = b"money_resolve_idempotently"
            client = threading.Thread(target=_post_in_vain, args=(doomed.url, key, request, named))
            client.start()
            assert proxy.lost.wait(timeout=20)
            doomed.kill()
            client.join()
    assert calls.only_charge(alice).status == "settled"

    answer = _post(web.url, key, request, named)

    assert answer.status_code == 200
    assert answer.headers["idempotency-replayed"] == "true"
    assert answer.json()["usage"]["completion_tokens"] == 20
    assert answer.json()["id"] == f"chatcmpl-{calls.only_charge(alice).pk.hex}"
    assert len(simulator.calls(marker)) == 1


def test_a_crash_before_output_frees_the_key_when_the_lease_has_run_out(
    web: Web, simulator: RunningSimulator
) -> None:
    alice, key = _customer()
    marker, named = uuid7().hex, uuid7().hex
    request = calls.body(marker, stream=True, tokens=20, ttft_ms=3000)
    with running_web(simulator) as doomed:
        client = threading.Thread(target=_post_in_vain, args=(doomed.url, key, request, named))
        client.start()
        calls.wait_for(lambda: simulator.calls(marker))
        doomed.kill()
        client.join()

    while_leased = _post(web.url, key, request, named)
    kill(calls.only_charge(alice).owner_id)
    afterwards = _post(web.url, key, request, named)

    assert while_leased.status_code == 409
    assert afterwards.status_code == 200
    assert afterwards.text.endswith("data: [DONE]\n\n")
    assert "idempotency-replayed" not in afterwards.headers
    lost, made = Charge.objects.filter(account=alice).order_by("admitted_at")
    assert lost.status == "released"
    assert (made.status, made.tokens_out) == ("settled", 20)


@pytest.mark.parametrize("stream_again", [True, False])
def test_a_crash_after_a_checkpoint_is_billed_and_not_carried_out_again(
    web: Web, simulator: RunningSimulator, stream_again: bool
) -> None:
    alice, key = _customer()
    marker, named = uuid7().hex, uuid7().hex
    request = calls.body(marker, stream=True, max_tokens=400, tokens=400, delay_ms=20)
    with running_web(simulator) as doomed:
        client = threading.Thread(target=_post_in_vain, args=(doomed.url, key, request, named))
        client.start()
        calls.wait_for(
            lambda: Charge.objects.filter(account=alice, units__tokens_out__gt=0).exists()
        )
        doomed.kill()
        client.join()
    kill(calls.only_charge(alice).owner_id)

    request["stream"] = stream_again
    answers = [_post(web.url, key, request, named) for _ in range(2)]

    charge = calls.only_charge(alice)
    assert charge.status == "expired"
    billed = (charge.charge_plan + charge.charge_balance) / NUSD_PER_USD
    assert billed > 0
    for answer in answers:
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (422, "idempotency_answer_lost")
        assert error["billed_usd"] == pytest.approx(billed)
        assert "another key" in error["message"]
        assert answer.headers["x-should-retry"] == "false"
    assert len(simulator.calls(marker)) == 1
    assert _post(web.url, key, request | {"max_tokens": 2}, uuid7().hex).status_code == 200


def _customer() -> tuple[User, str]:
    alice = new_user("alice", plan="max", balance_usd=5)
    return alice, new_key(alice)[1]


def _post(url: str, key: str, request: dict[str, object], named: str) -> httpx.Response:
    return httpx.post(
        f"{url}/v1/chat/completions",
        json=request,
        headers={"Authorization": f"Bearer {key}", "Idempotency-Key": named},
        timeout=30,
    )


def _post_in_vain(url: str, key: str, request: dict[str, object], named: str) -> None:
    with suppress(httpx.TransportError):
        _post(url, key, request, named)
