"""Why a call failed: kept with its charge, whichever verb ends it."""

import json

import msgspec
import pytest

from billing.models import Charge
from billing.services import endings
from billing.tests import money_functions
from billing.tests.bank import expire, hold, live_owner, new_account, release, settle
from billing.types import Ending, Failure

FAILURE = Failure("upstream_error", "It failed.", "openai", 500, "server_error", attempts=3)


@pytest.fixture
def held(committed: None) -> Charge:
    """A call that runs."""
    return Charge.objects.get(pk=hold(new_account(), 2, owner=live_owner())[1])


def kept(charge: Charge) -> object:
    return Charge.objects.get(pk=charge.pk).failure


def ending_of(charge: Charge, failure: Failure | None) -> Ending:
    return Ending(charge.pk, charge.account_id, "released", failure=failure)


def test_alone_and_in_a_batch(held: Charge) -> None:
    assert money_functions.resolve_together([ending_of(held, FAILURE)]) == ["resolved"]
    assert kept(held) == msgspec.to_builtins(FAILURE)


@pytest.mark.django_db
def test_in_a_transaction_with_other_rows(held: Charge) -> None:
    endings.resolve(ending_of(held, FAILURE))
    assert kept(held) == msgspec.to_builtins(FAILURE)


def test_a_call_that_ended_well_has_none(held: Charge) -> None:
    settle(held.pk, 1)
    assert kept(held) is None


def test_a_call_that_nobody_ended_was_interrupted(held: Charge) -> None:
    expire(held.pk)
    assert json.dumps(kept(held)).count("interrupted") == 1


def test_who_gives_a_call_up_may_know_better(held: Charge) -> None:
    endings.expire(held.pk, Failure("provider_unavailable"))
    assert kept(held) == {"code": "provider_unavailable"}


def test_the_first_end_counts(held: Charge) -> None:
    release(held.pk)
    endings.resolve(ending_of(held, FAILURE))
    assert kept(held) is None
