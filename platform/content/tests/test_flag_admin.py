"""Feature flags in the operators' admin."""

from typing import Any

import pytest

from content.models import FlagOverride, FlagRecord
from content.services import flags
from tests.operators import Operator, audit_of, new_operator
from tests.personas import new_user

PAGE = "content/flagrecord/"
WHY = "a reason"


def act(operator: Operator, flag: FlagRecord, name: str, **values: Any) -> Any:
    return operator.post(f"{PAGE}{flag.pk}/{name}/", reason=WHY, **values)


def test_a_flag_is_set_for_everyone(operator: Operator, sign_up: FlagRecord) -> None:
    assert act(operator, sign_up, "set_for_everyone", value="off").status_code == 302
    assert FlagOverride.objects.get().is_on is False
    act(operator, sign_up, "set_for_everyone", value="")
    assert not FlagOverride.objects.exists()
    assert audit_of(sign_up) == [
        f"Not set any more for everyone. Reason: {WHY}",
        f"Switched off for everyone. Reason: {WHY}",
    ]


def test_a_flag_is_set_for_a_plan(operator: Operator, sharing: FlagRecord) -> None:
    act(operator, sharing, "set_for_plan", plan="max", value="on")
    override = FlagOverride.objects.get()
    assert (override.plan_id, override.is_on) == ("max", True)
    assert audit_of(sharing) == [f"Switched on for the plan max. Reason: {WHY}"]


def test_a_flag_is_set_for_a_share_of_users(operator: Operator, sharing: FlagRecord) -> None:
    act(operator, sharing, "set_share", percent="5")
    act(operator, sharing, "set_share", percent="25")
    assert FlagOverride.objects.get().percent == 25
    act(operator, sharing, "set_share", percent="")
    assert not FlagOverride.objects.exists()
    assert audit_of(sharing) == [
        f"Not set any more for a share of users. Reason: {WHY}",
        f"Switched on for 25 % of users. Reason: {WHY}",
        f"Switched on for 5 % of users. Reason: {WHY}",
    ]


@pytest.mark.parametrize("known_by", ["email", "pk"])
def test_a_flag_is_set_for_a_user(operator: Operator, sharing: FlagRecord, known_by: str) -> None:
    alice = new_user("alice")
    act(operator, sharing, "set_for_user", user=str(getattr(alice, known_by)), value="off")
    override = FlagOverride.objects.get()
    assert (override.user, override.is_on) == (alice, False)
    assert audit_of(sharing) == [f"Switched off for {alice.email}. Reason: {WHY}"]


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("set_for_everyone", {"value": "maybe"}, "Select a valid choice"),
        ("set_for_plan", {"plan": "gold", "value": "on"}, "Select a valid choice"),
        ("set_for_plan", {"value": "on"}, "This field is required"),
        ("set_share", {"percent": "101"}, "less than or equal to 100"),
        ("set_share", {"percent": "-1"}, "greater than or equal to 0"),
        ("set_share", {"percent": "a few"}, "Enter a whole number"),
        ("set_for_user", {"user": "nobody@example.com", "value": "on"}, "No account has this"),
        ("set_for_user", {"user": "", "value": "on"}, "This field is required"),
    ],
)
def test_a_slip_is_refused_on_the_form(
    operator: Operator, sharing: FlagRecord, name: str, values: dict[str, str], problem: str
) -> None:
    answer = act(operator, sharing, name, **values)
    assert answer.status_code == 200
    assert problem in answer.content.decode()
    assert not FlagOverride.objects.exists()
    assert audit_of(sharing) == []


def test_nothing_is_set_without_a_reason(operator: Operator, sharing: FlagRecord) -> None:
    answer = operator.post(f"{PAGE}{sharing.pk}/set_for_everyone/", value="off")
    assert "This field is required" in answer.content.decode()
    assert not FlagOverride.objects.exists()


def test_what_was_set_before_is_not_written_down_again(
    operator: Operator, sharing: FlagRecord
) -> None:
    for _ in range(2):
        act(operator, sharing, "set_share", percent="5")
    assert len(audit_of(sharing)) == 1


def test_the_page_of_a_flag_shows_all_that_is_set(operator: Operator, sharing: FlagRecord) -> None:
    alice = new_user("alice")
    flags.set_for_user(flag=sharing, user_id=alice.pk, is_on=True)
    flags.set_for_plan(flag=sharing, plan="max", is_on=False)
    flags.set_share(flag=sharing, percent=7)
    page = operator.get(f"{PAGE}{sharing.pk}/change/")
    for shown in (f"for {alice.email}", "for the plan max", "for 7 % of users", "conversations"):
        assert shown in page
    assert "off for the plan max, on for 7 % of users" in operator.get(PAGE)
    assert "Set for a user" in page


def test_a_flag_of_everyone_has_only_the_act_that_has_an_effect(
    operator: Operator, sign_up: FlagRecord
) -> None:
    page = operator.get(f"{PAGE}{sign_up.pk}/change/")
    assert "Set for everyone" in page
    assert "Set for a user" not in page


def test_the_history_tells_who_changed_what_and_why(
    operator: Operator, sharing: FlagRecord
) -> None:
    act(operator, sharing, "set_share", percent="5")
    history = operator.get(f"{PAGE}{sharing.pk}/history/")
    assert f"Switched on for 5 % of users. Reason: {WHY}" in history
    assert operator.user.email in history


def test_a_flag_that_is_not_defined_any_more_is_stale_and_can_be_deleted(
    operator: Operator,
) -> None:
    stale = FlagRecord.objects.create(name="gone")
    flags.set_for_everyone(flag=stale, is_on=True)
    flags.set_for_user(flag=stale, user_id=operator.user.pk, is_on=True)
    assert "stale" in operator.get(PAGE).lower()
    page = operator.get(f"{PAGE}{stale.pk}/change/")
    assert "stale" in page.lower()
    assert "Set for everyone" not in page
    assert act(operator, stale, "set_for_everyone", value="off").status_code == 403

    assert operator.post(f"{PAGE}{stale.pk}/delete/", post="yes").status_code == 302
    assert not FlagRecord.objects.filter(name="gone").exists()
    assert not FlagOverride.objects.exists()


def test_a_flag_in_use_can_be_neither_added_edited_nor_deleted(
    operator: Operator, sharing: FlagRecord
) -> None:
    assert not operator.is_allowed(f"{PAGE}add/")
    assert not operator.is_allowed(f"{PAGE}{sharing.pk}/delete/")
    assert operator.post(f"{PAGE}{sharing.pk}/change/", name="x").status_code == 403


def test_who_may_only_look_sets_nothing(sharing: FlagRecord) -> None:
    viewer = new_operator("content.view_flagrecord", "content.view_flagoverride")
    assert "Set for everyone" not in viewer.get(f"{PAGE}{sharing.pk}/change/")
    assert act(viewer, sharing, "set_for_everyone", value="off").status_code == 403
    stranger = new_operator("catalog.view_aimodel")
    assert not stranger.is_allowed(PAGE)
