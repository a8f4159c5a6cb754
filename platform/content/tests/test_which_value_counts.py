"""Which value of a flag counts: user, plan, share of users, everyone, default."""

from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.ids import uuid7
from content.errors import TooManyUsers, UnknownAccount
from content.flags import PUBLIC_SHARING, SIGN_UP
from content.models import FlagOverride, FlagRecord
from content.selectors import flags as selectors
from content.services import flags
from content.types import Overrides, is_in_share
from tests.personas import new_user

PERCENTS = st.integers(0, 100)


@dataclass(frozen=True)
class Somebody:
    """A user, as far as flags know users."""

    pk: UUID
    plan: str = "free"


def value(
    *,
    user: bool | None = None,
    plan: bool | None = None,
    percent: int | None = None,
    everyone: bool | None = None,
    default: bool = False,
) -> bool:
    """The value of a flag for a user for whom all that is set."""
    alice = Somebody(uuid4())
    overrides = Overrides(
        everyone=everyone,
        percent=percent,
        plans={} if plan is None else {"free": plan},
        users={} if user is None else {alice.pk: user},
    )
    return overrides.for_user(alice, "a_flag", default=default)


@pytest.mark.parametrize("default", [True, False])
def test_the_default_counts_where_nothing_is_set(default: bool) -> None:
    assert value(default=default) is default


@pytest.mark.parametrize("on", [True, False])
def test_what_is_set_for_everyone_counts_before_the_default(on: bool) -> None:
    assert value(everyone=on, default=not on) is on


def test_a_share_counts_before_everyone_and_the_rest_is_as_for_everyone() -> None:
    assert value(percent=100, everyone=False) is True
    assert value(percent=0, everyone=True) is True
    assert value(percent=0, everyone=False, default=True) is False


@pytest.mark.parametrize("on", [True, False])
def test_a_plan_counts_before_a_share(on: bool) -> None:
    assert value(plan=on, percent=0 if on else 100, everyone=not on, default=not on) is on


@pytest.mark.parametrize("on", [True, False])
def test_a_user_counts_before_all(on: bool) -> None:
    rest = not on
    assert value(user=on, plan=rest, percent=100, everyone=rest, default=rest) is on


def test_what_is_set_for_another_plan_or_user_does_not_count() -> None:
    overrides = Overrides(None, None, {"max": True}, {uuid4(): True})
    assert overrides.for_user(Somebody(uuid4()), "a_flag", default=False) is False


# --- The share ----------------------------------------------------------------------------------


@given(st.uuids(), PERCENTS)
def test_a_user_is_always_in_a_share_or_never(user_id: UUID, percent: int) -> None:
    assert is_in_share(user_id, "a_flag", percent) is is_in_share(user_id, "a_flag", percent)


@given(st.uuids(), PERCENTS, PERCENTS)
def test_a_share_that_is_raised_only_gains_users(user_id: UUID, one: int, other: int) -> None:
    smaller, larger = sorted([one, other])
    if is_in_share(user_id, "a_flag", smaller):
        assert is_in_share(user_id, "a_flag", larger)


@given(st.uuids())
def test_nobody_is_in_a_share_of_nothing_and_everybody_in_the_whole(user_id: UUID) -> None:
    assert not is_in_share(user_id, "a_flag", 0)
    assert is_in_share(user_id, "a_flag", 100)


@given(st.from_regex(r"[a-z_]{1,30}", fullmatch=True), st.integers(1, 99))
def test_a_share_has_about_its_size_whatever_the_flag(flag: str, percent: int) -> None:
    users = [UUID(int=number) for number in range(2_000)]
    size = sum(is_in_share(user, flag, percent) for user in users)
    # Six standard deviations at most, of a share of one half.
    assert abs(size - 20 * percent) < 6 * (2_000 * 0.25) ** 0.5


def test_the_first_users_of_one_flag_are_not_those_of_another() -> None:
    users = [uuid7() for _ in range(1_000)]
    first, second = (
        {user for user in users if is_in_share(user, flag, 20)} for flag in ("one", "other")
    )
    assert 0 < len(first & second) < len(first) / 2


# --- As code reads it ---------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_flag_is_read_with_what_is_set(sharing: FlagRecord) -> None:
    alice, bob = new_user("alice"), new_user("bob", plan="max")
    flags.set_for_everyone(flag=sharing, is_on=False)
    flags.set_for_plan(flag=sharing, plan="max", is_on=True)
    assert [PUBLIC_SHARING.is_on(user) for user in (alice, bob)] == [False, True]

    flags.set_share(flag=sharing, percent=100)
    flags.set_for_user(flag=sharing, user_id=bob.pk, is_on=False)
    selectors.reset()
    assert [PUBLIC_SHARING.is_on(user) for user in (alice, bob)] == [True, False]


@pytest.mark.django_db
def test_a_flag_that_is_the_same_for_everyone_needs_no_user(sign_up: FlagRecord) -> None:
    assert SIGN_UP.is_on()
    flags.set_for_everyone(flag=sign_up, is_on=False)
    selectors.reset()
    assert not SIGN_UP.is_on()


@pytest.mark.django_db
def test_a_value_is_set_once_however_often_it_is_set(sharing: FlagRecord) -> None:
    alice = new_user("alice")
    for is_on, changed in ((True, True), (True, False), (False, True), (None, True), (None, False)):
        assert flags.set_for_everyone(flag=sharing, is_on=is_on) is changed
        assert flags.set_for_plan(flag=sharing, plan="pro", is_on=is_on) is changed
        assert flags.set_for_user(flag=sharing, user_id=alice.pk, is_on=is_on) is changed
        assert FlagOverride.objects.count() == (0 if is_on is None else 3)
    for percent, changed in ((5, True), (5, False), (6, True), (None, True), (None, False)):
        assert flags.set_share(flag=sharing, percent=percent) is changed
        assert FlagOverride.objects.count() == (0 if percent is None else 1)


@pytest.mark.django_db
def test_an_account_is_found_by_its_address_and_by_its_id() -> None:
    alice = new_user("alice")
    for text in (alice.email, f" {alice.email.upper()} ", str(alice.pk), alice.pk.hex):
        assert flags.find_account(text) == alice
    for text in ("nobody@example.com", str(uuid4()), "", "alice"):
        with pytest.raises(UnknownAccount):
            flags.find_account(text)


@pytest.mark.django_db
def test_a_flag_is_set_for_a_bounded_number_of_users(
    sharing: FlagRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flags, "MAX_USERS", 1)
    alice, bob = new_user("alice"), new_user("bob")
    flags.set_for_user(flag=sharing, user_id=alice.pk, is_on=True)
    with pytest.raises(TooManyUsers):
        flags.set_for_user(flag=sharing, user_id=bob.pk, is_on=True)
    assert flags.set_for_user(flag=sharing, user_id=alice.pk, is_on=False)
    assert FlagOverride.objects.get().user == alice
