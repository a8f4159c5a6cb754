"""One request, sent again and again while processes die and callers come and go."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from billing.models import UndeliveredAnswer
from billing.services import reconciliation, sweeps
from billing.tests import money_functions
from billing.tests.bank import kill, live_owner, new_account
from billing.tests.undelivered import call_of, claim, claimed, end, held, keep, kept, note, rows
from billing.types import Ending, EndStatus
from tests.lives import RolledBackLife, live_through


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
        elif keep(call_of(charge, self.alice)):
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
        [(_, _, _, _, answer)] = claimed(charge, claim_id)
        assert (bytes(answer) == charge.bytes) if charge in self.answers else answer is None

    @rule(pick=st.integers(0, 9))
    def go_away_again(self, pick: int) -> None:
        if claim_id := _pick(self.claims, pick):
            charge, _ = self.claims.pop(claim_id)
            rows(
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
            rows(
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
            rows(
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
            rows("SELECT lease_renew(%s, 'test')", owner)
        self.free = {charge: at for charge, at in self.free.items() if self._is_young(at)}

    @rule()
    def sweep(self) -> None:
        assert reconciliation.find_violations() == []
        sweeps.forget_undelivered_answers()
        there = kept(self.alice)
        self.claims = {k: v for k, v in self.claims.items() if v[0] in there}

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
