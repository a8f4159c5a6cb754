"""The answers of calls whose callers went away, and who gets them."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from accounts.models import User
from billing.models import Charge, UndeliveredAnswer
from billing.services import reconciliation, sweeps
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
from billing.types import Ending, EndStatus, Retry, UndeliveredCall, as_json
from common.ids import uuid7
from local.paths import ROOT
from tests.lives import RolledBackLife, live_through

ROUTE, DIGEST = "/v1/chat/completions", "ab" * 32


def held(account: User, owner: UUID | None = None) -> UUID:
    request = money_functions.request(account, 100, owner=owner or live_owner())
    assert money_functions.hold(request).verdict == "held"
    return request.charge_id


def call_of(charge: UUID, account: User) -> UndeliveredCall:
    """Its key has the id of the account."""
    return UndeliveredCall(charge, account.pk, account.pk, ROUTE, DIGEST, "first")


def note(*calls: UndeliveredCall) -> set[UUID]:
    return {row[0] for row in _rows("SELECT * FROM note_undelivered(%s)", as_json(calls))}


def end(call: UndeliveredCall, status: EndStatus = "settled", answer: bytes = b"an answer") -> str:
    """End a call whose caller is known to have gone."""
    ending = Ending(call.charge_id, call.account_id, status, 50, {"tokens_in": 5, "tokens_out": 50})
    rows = _rows(
        "SELECT outcome FROM money_resolve_undelivered(%s,%s,%s)",
        as_json(call),
        answer,
        as_json(ending),
    )
    return str(rows[0][0])


def lose(account: User) -> UUID:
    """A call whose caller went away, and which has ended."""
    call = call_of(held(account), account)
    assert note(call) == {call.charge_id}
    assert end(call) == "resolved"
    return call.charge_id


def store(account: User, size: int, **most: int) -> UUID:
    """Keep an answer of so many bytes, where the bounds are lower than they are."""
    charge = uuid7()
    bounds = {"one": 16, "account": 64, "all": 10_000} | most
    _rows(
        "SELECT store_undelivered(%s, %s, %s, %s, %s)",
        as_json(call_of(charge, account)),
        bytes(size),
        *bounds.values(),
    )
    return charge


def retry_of(account: User, *, key: UUID | None = None, retry_of: str | None = None) -> Retry:
    return Retry(account.pk, key or account.pk, ROUTE, DIGEST, retry_of, "kimi-k3", "chat", 100)


def claim(
    account: User, claim_id: UUID | None = None, owner: UUID | None = None, **options: Any
) -> tuple[str, UUID | None]:
    rows = _rows(
        "SELECT * FROM claim_undelivered(%s, %s, %s)",
        as_json(retry_of(account, **options)),
        claim_id or uuid4(),
        owner or live_owner(),
    )
    return rows[0][0], rows[0][1]


def kept(account: User) -> set[UUID]:
    rows = UndeliveredAnswer.objects.filter(account=account)
    return set(rows.values_list("charge_id", flat=True))


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

    assert [_keep(call) for call in (settled, released)] == [True, False]
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
    assert _claimed(call.charge_id, claim_id) == [("expired", 80, True, False, None)]


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
            row = other.execute(
                "SELECT * FROM claim_undelivered(%s, %s, %s)",
                (as_json(retry_of(alice)), uuid4(), owner),
            ).fetchone()
            assert row
            return row[0], row[1]

    owner = live_owner()
    with ThreadPoolExecutor(8) as threads:
        claims = list(threads.map(send_again, range(8)))

    assert {charge for outcome, charge in claims if outcome == "claimed"} == lost
    assert [outcome for outcome, _ in claims].count("none") == 3


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
    _rows("SELECT store_undelivered(%s, %s, 16, 64)", as_json(call), bytes(17))
    assert kept(alice) == set()


def test_all_accounts_together_have_a_bound(committed: None) -> None:
    alice, bob = new_account(), new_account()
    [(before,)] = _rows(
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
    assert sweeps.forget_undelivered_answers(chunk=1) >= 1
    assert kept(alice) == {young}


# --- Whatever happens -----------------------------------------------------------------------------


class RetryLife(RolledBackLife):
    """One request, sent again and again through processes that die, with callers that come and go.

    `free` are the calls that a retry may get: their callers went away, and nobody has them.
    """

    @initialize()
    def begin(self) -> None:
        self.now = datetime(2099, 3, 1, tzinfo=UTC)
        self._set_clock()
        self.alice = new_account()
        self.connected: dict[UUID, UUID] = {}
        self.running: dict[UUID, UUID] = {}
        self.free: dict[UUID, datetime] = {}
        self.claims: dict[UUID, tuple[UUID, UUID]] = {}
        self.answers: set[UUID] = set()
        for _ in range(3):
            self.call()
        for _ in range(2):
            self.go_away(0)

    @rule()
    def call(self) -> None:
        owner = live_owner()
        charge = held(self.alice, owner)
        self.connected[charge] = self.running[charge] = owner

    @rule(pick=st.integers(0, 9))
    def go_away(self, pick: int) -> None:
        if not (charge := _pick(self.connected, pick)):
            return
        del self.connected[charge]
        if charge in self.running:
            assert note(call_of(charge, self.alice)) == {charge}
            self.free[charge] = self.now
        elif _keep(call_of(charge, self.alice)):
            self.free[charge] = self.now
            self.answers.add(charge)

    @rule(pick=st.integers(0, 9), status=st.sampled_from(["settled", "settled", "released"]))
    def finish(self, pick: int, status: EndStatus) -> None:
        if not (charge := _pick(self.running, pick)):
            return
        del self.running[charge]
        if charge in self.connected:
            ending = Ending(charge, self.alice.pk, status, 60, {"tokens_in": 5, "tokens_out": 60})
            money_functions.resolve(ending)
            return
        assert end(call_of(charge, self.alice), status, charge.bytes) == "resolved"
        if status == "released":
            self.free.pop(charge, None)
            self.claims = {k: v for k, v in self.claims.items() if v[0] != charge}
        else:
            self.answers.add(charge)
            if charge in self.free:
                self.free[charge] = self.now

    @rule(times=st.integers(1, 3))
    def send_again(self, times: int) -> None:
        for _ in range(times):
            self._send_again()

    def _send_again(self) -> None:
        claim_id, owner = uuid4(), live_owner()
        outcome, charge = claim(self.alice, claim_id, owner)
        if not self.free:
            assert outcome != "claimed"
            return
        assert outcome == "claimed"
        assert charge == min(self.free)
        del self.free[charge]
        self.claims[claim_id] = charge, owner
        [(_, _, _, _, answer)] = _claimed(charge, claim_id)
        assert (bytes(answer) == charge.bytes) if charge in self.answers else answer is None

    @rule(pick=st.integers(0, 9))
    def go_away_again(self, pick: int) -> None:
        if claim_id := _pick(self.claims, pick):
            charge, _ = self.claims.pop(claim_id)
            _rows(
                "UPDATE billing_undeliveredanswer SET claim = NULL, claimed_by = NULL"
                " WHERE charge_id = %s AND claim = %s RETURNING 1",
                charge,
                claim_id,
            )
            self._set_free(charge)

    @rule(pick=st.integers(0, 9))
    def die(self, pick: int) -> None:
        if claim_id := _pick(self.claims, pick):
            charge, owner = self.claims.pop(claim_id)
            kill(owner)
            _rows(
                "UPDATE leases_lease SET expires_at = %s WHERE owner_id = %s RETURNING 1",
                self.now - timedelta(seconds=1),
                owner,
            )
            self._set_free(charge)

    @rule(pick=st.integers(0, 9))
    def deliver(self, pick: int) -> None:
        delivered = {k: v for k, v in self.claims.items() if v[0] in self.answers}
        if claim_id := _pick(delivered, pick):
            charge, _ = self.claims.pop(claim_id)
            _rows(
                "DELETE FROM billing_undeliveredanswer WHERE charge_id = %s AND claim = %s"
                " RETURNING 1",
                charge,
                claim_id,
            )

    @rule(seconds=st.sampled_from([1, 20, 300]))
    def wait(self, seconds: int) -> None:
        """Processes that live renew their leases; no call runs longer than nine minutes."""
        if seconds == 300:
            for _ in list(self.running):
                self.finish(0, "settled")
        self.now += timedelta(seconds=seconds)
        self._set_clock()
        for owner in {*self.running.values(), *(owner for _, owner in self.claims.values())}:
            _rows("SELECT lease_renew(%s, 'test')", owner)
        self.free = {charge: at for charge, at in self.free.items() if self._is_young(at)}

    @rule()
    def sweep(self) -> None:
        assert reconciliation.find_violations() == []
        sweeps.forget_undelivered_answers()
        rows = kept(self.alice)
        self.claims = {k: v for k, v in self.claims.items() if v[0] in rows}

    def _set_free(self, charge: UUID) -> None:
        kept_at = UndeliveredAnswer.objects.get(pk=charge).kept_at
        if self._is_young(kept_at):
            self.free[charge] = kept_at

    def _is_young(self, kept_at: datetime) -> bool:
        return kept_at > self.now - timedelta(minutes=10)

    def _set_clock(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('platform.clock', %s, true)", [self.now.isoformat()])


@pytest.mark.django_db
def test_lost_calls_and_retries_are_matched_one_to_one_whatever_happens() -> None:
    live_through(RetryLife, lives=12, steps=20)


def _pick(choices: Iterable[UUID], pick: int) -> UUID | None:
    found = list(choices)
    return found[pick % len(found)] if found else None


def _keep(call: UndeliveredCall) -> bool:
    rows = _rows("SELECT keep_undelivered(%s, %s)", as_json(call), call.charge_id.bytes)
    return bool(rows[0][0])


def _claimed(charge: UUID, claim_id: UUID) -> list[tuple[Any, ...]]:
    return _rows("SELECT * FROM claimed_undelivered(%s, %s)", charge, claim_id)


def _rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
