"""A call that its client gave a name (Idempotency-Key): whatever happens to its process, that name
is paid for once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from accounts.models import User
from billing.models import Charge
from billing.selectors.idempotency import keeps_key
from billing.services import reconciliation, sweeps
from billing.tests import money_functions
from billing.tests.bank import (
    FREE_MODEL,
    charge_of,
    checkpoint,
    expire,
    hold,
    kill,
    live_owner,
    new_account,
    other_connection,
    release,
    settle,
    wallet_of,
)
from billing.types import Ending, HoldRequest, RequestKey, as_json
from common.ids import uuid7
from tests.lives import RolledBackLife, live_through

NAME = RequestKey("/v1/chat/completions", "a", b"x")
OTHER = RequestKey("/v1/chat/completions", "a", b"y")


def send(
    account: User, request_key: RequestKey = NAME, *, owner: UUID | None = None
) -> tuple[str, UUID]:
    """The verdict, and the charge that it would be made under."""
    request = money_functions.request(account, 100, owner=owner or live_owner())
    answer, _ = money_functions.hold_idempotently(request_key, request)
    return answer.verdict, request.charge_id


def test_one_that_was_billed_when_its_process_died_keeps_its_name(committed: None) -> None:
    alice, doomed = new_account(), live_owner()
    _, charge = send(alice, owner=doomed)
    checkpoint(doomed, charge, cost=40)
    kill(doomed)

    assert [send(alice)[0] for _ in range(2)] == ["interrupted", "interrupted"]
    assert send(alice, OTHER)[0] == "idempotency_mismatch"

    assert charge_of(charge).status == "expired"
    assert wallet_of(alice).balance == 10**9 - 80
    assert Charge.objects.filter(account=alice).count() == 1


def test_it_keeps_it_whoever_expired_it(committed: None) -> None:
    alice, doomed = new_account(), live_owner()
    _, charge = send(alice, owner=doomed)
    checkpoint(doomed, charge, cost=40)
    expire(charge)
    assert send(alice)[0] == "interrupted"


@pytest.mark.parametrize("cost", [None, 0])
def test_one_that_had_cost_nothing_gives_its_name_back(committed: None, cost: int | None) -> None:
    alice, doomed = new_account(), live_owner()
    _, lost = send(alice, owner=doomed)
    if cost is not None:
        checkpoint(doomed, lost, cost=cost)
    kill(doomed)

    verdict, made = send(alice)

    assert verdict == "held"
    settle(made, 30)
    assert charge_of(lost).cost == 0
    assert wallet_of(alice).balance == 10**9 - 60


def test_a_free_message_that_was_used_up_keeps_its_name(committed: None) -> None:
    """Also of a model that costs nothing."""
    alice, owner = new_account(plan="free"), live_owner()
    _, charge = hold(alice, 0, owner=owner, model=FREE_MODEL, free_window=True)
    checkpoint(owner, charge, cost=0)
    expire(charge)
    assert keeps_key(charge)


def test_what_the_platform_paid_for_keeps_its_name(committed: None) -> None:
    alice, owner = new_account(), live_owner()
    _, charge = hold(alice, 100, owner=owner, funding="platform")
    checkpoint(owner, charge, cost=1)
    expire(charge)
    assert keeps_key(charge)


def test_a_process_that_was_only_thought_dead_bills_nothing_more(committed: None) -> None:
    alice, frozen = new_account(), live_owner()
    _, charge = send(alice, owner=frozen)
    checkpoint(frozen, charge, cost=10)
    kill(frozen)
    assert send(alice)[0] == "interrupted"

    late = Ending(charge, alice.pk, "settled", 50, {"tokens_in": 5, "tokens_out": 50})
    assert money_functions.resolve_idempotently(NAME, b"too late", late) == "already"

    assert wallet_of(alice).balance == 10**9 - 20
    assert send(alice)[0] == "interrupted"


def test_an_answer_that_made_room_for_others_is_not_made_again(committed: None) -> None:
    alice = new_account()
    _, charge = send(alice)
    money_functions.resolve_idempotently(
        NAME,
        b"an answer",
        Ending(charge, alice.pk, "settled", 50, {"tokens_in": 5, "tokens_out": 50}),
    )
    sweeps.forget_idempotency_keys(kept=1)

    assert send(alice)[0] == "forgotten"
    assert wallet_of(alice).balance == 10**9 - 100


def test_a_name_that_was_paid_for_cannot_be_given_to_another_call(committed: None) -> None:
    """Whatever the code above it believes."""
    alice = new_account()
    _, charge = send(alice)
    settle(charge, 50)
    with connection.cursor() as cursor, pytest.raises(Exception, match="stands for a call"):
        cursor.execute(
            "SELECT store_idempotency_key(%s, %s, %s, %s, %s)",
            (alice.pk, NAME.route, NAME.key, NAME.digest, uuid7()),
        )


@pytest.mark.parametrize("cost", [40, 0])
def test_of_many_that_come_after_a_death_at_most_one_is_carried_out(
    committed: None, cost: int
) -> None:
    alice, doomed = new_account(), live_owner()
    _, charge = send(alice, owner=doomed)
    checkpoint(doomed, charge, cost=cost)
    kill(doomed)
    requests = [money_functions.request(alice, 100, owner=live_owner()) for _ in range(8)]
    everybody = Barrier(len(requests))

    def send_at_once(request: HoldRequest) -> str:
        with other_connection() as other:
            everybody.wait()
            return _verdict(other, request)

    with ThreadPoolExecutor(len(requests)) as threads:
        verdicts = sorted(threads.map(send_at_once, requests))

    if cost:
        assert verdicts == ["interrupted"] * 8
    else:
        assert verdicts == ["held"] + ["idempotency_in_progress"] * 7
    for open_charge in Charge.objects.filter(account=alice, status="held"):
        release(open_charge.pk)


class NameLife(RolledBackLife):
    """One name, sent again and again, while processes begin, die, come back late, and time passes.

    `attempts` are the charges of one day of the name.
    """

    @initialize()
    def begin(self) -> None:
        self.now = datetime(2099, 3, 1, tzinfo=UTC)
        self._set_clock()
        self.alice = new_account()
        self.since = self.now
        self.attempts: list[UUID] = []
        self.owners: dict[UUID, UUID] = {}

    @rule(request_key=st.sampled_from([NAME, NAME, NAME, OTHER]))
    def send(self, request_key: RequestKey) -> None:
        before = self._paid()
        owner = live_owner()
        verdict, charge = send(self.alice, request_key, owner=owner)
        if verdict != "held":
            return
        if self.now - self.since >= timedelta(hours=24):
            self.attempts = []
        else:
            assert before == 0
        self.since = self.now
        self.attempts.append(charge)
        self.owners[charge] = owner

    @rule(cost=st.sampled_from([0, 0, 7, 100]), pick=st.integers(0, 9))
    def checkpoint(self, cost: int, pick: int) -> None:
        if charge := self._pick(pick):
            checkpoint(self.owners[charge], charge, cost=cost)

    @rule(pick=st.integers(0, 9), status=st.sampled_from(["settled", "released", "expired"]))
    def end(self, pick: int, status: str) -> None:
        """Also late, by a process that others thought dead."""
        if charge := self._pick(pick):
            ending = Ending(charge, self.alice.pk, status, 60, {"tokens_in": 5, "tokens_out": 60})  # type: ignore[arg-type]
            money_functions.resolve_idempotently(NAME, charge.bytes, ending)

    @rule(pick=st.integers(0, 9))
    def die(self, pick: int) -> None:
        if charge := self._pick(pick):
            kill(self.owners[charge])

    @rule(hours=st.sampled_from([1, 23, 24]))
    def wait(self, hours: int) -> None:
        self.now += timedelta(hours=hours)
        self._set_clock()

    @rule(kept=st.sampled_from([0, 10_000]))
    def sweep(self, kept: int) -> None:
        sweeps.expire_lapsed_charges()
        sweeps.forget_idempotency_keys(kept=kept)

    @invariant()
    def the_name_is_paid_once(self) -> None:
        assert self._paid() <= 1
        assert reconciliation.find_violations() == []

    def _pick(self, pick: int) -> UUID | None:
        charges = list(self.owners)[-3:]
        return charges[pick % len(charges)] if charges else None

    def _paid(self) -> int:
        """The attempts of the name's day that were paid for."""
        return (
            Charge.objects.filter(pk__in=self.attempts, cost__gt=0).exclude(status="held").count()
        )

    def _set_clock(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('platform.clock', %s, true)", [self.now.isoformat()])


@pytest.mark.django_db
def test_a_name_is_paid_once_whatever_happens() -> None:
    live_through(NameLife, lives=20, steps=20)


def _verdict(other: "psycopg.Connection[tuple[object, ...]]", request: HoldRequest) -> str:
    row = other.execute(
        "SELECT verdict FROM money_hold_idempotently(%s,%s,%s,%s)",
        (NAME.route, NAME.key, NAME.digest, as_json(request)),
    ).fetchone()
    assert row
    return str(row[0])
