"""How long the answers of named requests are kept, and how many of them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import User
from billing.models import IdempotencyKey
from billing.services import sweeps
from tests.personas import new_user

pytestmark = pytest.mark.django_db

DAY = timedelta(hours=24)


def test_an_answer_is_forgotten_after_a_day() -> None:
    alice = new_user("alice")
    keep(alice, "old", age=DAY + timedelta(minutes=1))
    keep(alice, "young", age=DAY - timedelta(minutes=1))

    sweeps.forget_idempotency_keys()

    assert kept_of(alice) == {"young"}


def test_more_than_one_chunk_is_forgotten_at_a_time() -> None:
    alice = new_user("alice")
    for number in range(5):
        keep(alice, str(number), age=2 * DAY)

    sweeps.forget_idempotency_keys(chunk=2)

    assert kept_of(alice) == set()


def test_the_oldest_answers_make_room_and_only_those_of_their_account() -> None:
    alice, bob = new_user("alice"), new_user("bob")
    for minutes, key in ((30, "oldest"), (20, "older"), (10, "newest")):
        keep(alice, key, age=timedelta(minutes=minutes), size=40)
    keep(bob, "his", age=timedelta(minutes=40), size=100)

    sweeps.forget_idempotency_keys(kept=100)

    assert answers_of(alice) == {"older", "newest"}
    assert answers_of(bob) == {"his"}
    # What was billed is not made again.
    assert kept_of(alice) == {"oldest", "older", "newest"}


def test_a_request_that_still_runs_is_not_forgotten() -> None:
    alice = new_user("alice")
    keep(alice, "running", age=timedelta(minutes=9), size=None)
    keep(alice, "large", age=timedelta(minutes=1), size=200)

    sweeps.forget_idempotency_keys(kept=100)

    assert kept_of(alice) == {"running", "large"}
    assert answers_of(alice) == set()


def keep(account: User, key: str, *, age: timedelta, size: int | None = 10) -> None:
    IdempotencyKey.objects.create(
        account=account,
        route="/v1/embeddings",
        key=key,
        digest=b"",
        charge_id=uuid4(),
        created_at=timezone.now() - age,
        answer=None if size is None else b"x" * size,
    )


def kept_of(account: User) -> set[str]:
    return set(IdempotencyKey.objects.filter(account=account).values_list("key", flat=True))


def answers_of(account: User) -> set[str]:
    kept = IdempotencyKey.objects.filter(account=account, answer__isnull=False)
    return set(kept.values_list("key", flat=True))
