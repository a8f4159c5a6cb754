"""The answers of calls whose callers went away, and who gets them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from accounts.models import User
from billing.models import Charge, UndeliveredAnswer
from billing.services import sweeps
from billing.tests import money_functions
from billing.tests.bank import (
    charge_of,
    checkpoint,
    expire,
    kill,
    live_owner,
    new_account,
    other_connection,
)
from billing.tests.undelivered import (
    DIGEST,
    ROUTE,
    call_of,
    claim,
    claimed,
    end,
    held,
    keep,
    kept,
    lose,
    note,
    retry_of,
    rows,
    store,
)
from billing.types import Ending, as_json
from common.ids import uuid7
from devserver.paths import ROOT
from tests.locks import wait_until_blocked

# --- What is kept ---------------------------------------------------------------------------------


def test_the_answer_is_kept_by_the_settlement(committed: None) -> None:
    alice = new_account()
    call = call_of(held(alice), alice)
    assert note(call) == {call.charge_id}
    assert UndeliveredAnswer.objects.get(account=alice).answer is None

    assert end(call) == "resolved"

    row = UndeliveredAnswer.objects.get(account=alice)
    assert bytes(row.answer or b"") == b"an answer"
    assert bytes(row.digest).hex() == DIGEST
    assert charge_of(call.charge_id).status == "settled"


def test_a_call_that_ended_before_it_could_be_noted_is_kept_as_well(committed: None) -> None:
    alice = new_account()
    call = call_of(held(alice), alice)

    assert end(call) == "resolved"

    assert note(call) == set()
    assert claim(alice) == ("claimed", call.charge_id)


def test_an_answer_that_was_settled_before_its_caller_went_away_is_kept(committed: None) -> None:
    alice = new_account()
    settled, released = (call_of(held(alice), alice) for _ in range(2))
    for call, status in ((settled, "settled"), (released, "released")):
        money_functions.resolve(
            Ending(call.charge_id, alice.pk, status, 50, {"tokens_in": 5, "tokens_out": 50})  # type: ignore[arg-type]
        )

    assert [keep(call) for call in (settled, released)] == [True, False]
    assert kept(alice) == {settled.charge_id}


@pytest.mark.parametrize("is_noted", [True, False])
def test_a_call_that_bills_nothing_leaves_nothing(committed: None, is_noted: bool) -> None:
    alice = new_account()
    call = call_of(held(alice), alice)
    if is_noted:
        note(call)

    end(call, "released")

    assert kept(alice) == set()
    assert note(call) == set()
    assert claim(alice) == ("none", None)


def test_a_settlement_that_came_too_late_keeps_nothing(committed: None) -> None:
    """Somebody else has ended the charge at its checkpoint."""
    alice, owner = new_account(), live_owner()
    call = call_of(held(alice, owner), alice)
    note(call)
    checkpoint(owner, call.charge_id, cost=40)
    expire(call.charge_id)

    assert end(call) == "already"

    claim_id = uuid4()
    assert claim(alice, claim_id) == ("claimed", call.charge_id)
    assert claimed(call.charge_id, claim_id) == [("expired", 80, True, False, None)]


# --- Who gets it ----------------------------------------------------------------------------------


def test_it_is_claimed_once_and_the_same_claim_finds_it_again(committed: None) -> None:
    alice, claim_id = new_account(), uuid4()
    charge = lose(alice)

    assert claim(alice, claim_id) == ("claimed", charge)
    assert claim(alice, claim_id) == ("claimed", charge)
    assert claim(alice) == ("none", None)


def test_another_key_finds_nothing_nor_does_another_name(committed: None) -> None:
    alice, bob = new_account(), new_account()
    charge = lose(alice)

    assert claim(alice, key=uuid7())[0] == "none"
    assert claim(bob, key=uuid7())[0] == "none"
    assert claim(alice, retry_of="second")[0] == "none"
    assert claim(alice, retry_of="first") == ("claimed", charge)


def test_a_claim_lapses_with_its_process(committed: None) -> None:
    alice, doomed = new_account(), live_owner()
    charge = lose(alice)
    assert claim(alice, owner=doomed)[0] == "claimed"

    kill(doomed)

    assert claim(alice) == ("claimed", charge)


def test_where_a_call_of_its_kind_runs_its_caller_may_be_the_one_that_is_gone(
    committed: None,
) -> None:
    alice = new_account()
    call = call_of(held(alice), alice)
    Charge.objects.filter(pk=call.charge_id).update(api_key_id=alice.pk, request_id="first")

    assert claim(alice) == ("connected", None)
    assert claim(alice, retry_of="first") == ("connected", None)
    assert claim(alice, retry_of="second") == ("none", None)
    assert claim(alice, key=uuid7()) == ("none", None)
    note(call)
    assert claim(alice) == ("claimed", call.charge_id)
    assert claim(alice) == ("none", None)
    # Nobody settles it: its key is not one of this account's.
    Charge.objects.filter(pk=call.charge_id).update(api_key_id=None)
    end(call, "released")


def test_of_many_retries_at_the_same_moment_each_gets_another_call(committed: None) -> None:
    alice = new_account()
    lost = {lose(alice) for _ in range(5)}
    everybody = Barrier(8)

    def send_again(_: int) -> tuple[str, UUID | None]:
        with other_connection() as other:
            everybody.wait()
            return claim_on(other, alice, owner)

    owner = live_owner()
    with ThreadPoolExecutor(8) as threads:
        claims = list(threads.map(send_again, range(8)))

    assert {charge for outcome, charge in claims if outcome == "claimed"} == lost
    assert [outcome for outcome, _ in claims].count("none") == 3


def test_a_retry_that_has_waited_for_another_one_gets_another_call(committed: None) -> None:
    alice, owner = new_account(), live_owner()
    first, second = lose(alice), lose(alice)

    def send_again() -> tuple[str, UUID | None]:
        with other_connection() as other:
            return claim_on(other, alice, owner)

    with other_connection() as one, ThreadPoolExecutor(1) as thread:
        one.execute("BEGIN")
        assert claim_on(one, alice, owner) == ("claimed", first)
        waiting = thread.submit(send_again)
        wait_until_blocked(one)
        one.execute("COMMIT")
        assert waiting.result() == ("claimed", second)


def claim_on(
    process: psycopg.Connection[Any], account: User, owner: UUID
) -> tuple[str, UUID | None]:
    row = process.execute(
        "SELECT * FROM claim_undelivered(%s, %s, %s)",
        (as_json(retry_of(account)), uuid4(), owner),
    ).fetchone()
    assert row
    return row[0], row[1]


# --- Bounds ---------------------------------------------------------------------------------------


def test_a_key_keeps_its_newest_200(committed: None) -> None:
    alice = new_account()
    row = {
        "account": alice,
        "api_key_id": alice.pk,
        "route": ROUTE,
        "digest": b"x",
        "request_id": "",
    }
    old = [uuid7() for _ in range(203)]
    now = datetime.now(UTC)
    UndeliveredAnswer.objects.bulk_create(
        UndeliveredAnswer(
            charge_id=charge,
            kept_at=now - timedelta(seconds=300 - number),
            # The oldest is just being delivered.
            claim=uuid4() if number == 0 else None,
            **row,
        )
        for number, charge in enumerate(old)
    )

    newest = lose(alice)

    assert kept(alice) == {old[0], *old[4:], newest}


def test_the_oldest_answers_of_an_account_make_room(committed: None) -> None:
    alice, bob = new_account(), new_account()
    his = store(bob, 16)
    charges = [store(alice, 16) for _ in range(5)]

    assert kept(alice) == set(charges[1:])
    assert kept(bob) == {his}


def test_an_answer_that_is_too_large_is_not_kept(committed: None) -> None:
    alice = new_account()
    charge = store(alice, 16)
    call = call_of(charge, alice)
    rows("SELECT store_undelivered(%s, %s, 16, 64)", as_json(call), bytes(17))
    assert kept(alice) == set()


def test_all_accounts_together_have_a_bound(committed: None) -> None:
    alice, bob = new_account(), new_account()
    [(before,)] = rows(
        "SELECT coalesce(sum(octet_length(answer)), 0) FROM billing_undeliveredanswer"
    )
    his = store(bob, 16, all=before + 20)

    store(alice, 5, all=before + 20)

    assert kept(alice) == set()
    assert kept(bob) == {his}


def test_the_bounds_are_those_of_the_documents() -> None:
    text = (ROOT / "billing/sql/75_undelivered_answers.sql").read_text()
    for megabytes in (16, 64, 1024):
        assert f"bigint DEFAULT {megabytes * 1024 * 1024}" in text


def test_what_is_older_than_ten_minutes_is_forgotten(committed: None) -> None:
    alice = new_account()
    old, young = lose(alice), lose(alice)
    for charge, seconds in ((old, 601), (young, 590)):
        UndeliveredAnswer.objects.filter(pk=charge).update(
            kept_at=datetime.now(UTC) - timedelta(seconds=seconds)
        )

    assert claim(alice, retry_of="first") == ("claimed", young)
    sweeps.forget_undelivered_answers(chunk=1)
    assert kept(alice) == {young}
