"""`manage.py create_demo_team`: the team that `make run` seeds."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from accounts.models import User
from demo.team import INVITED, NAME
from teams.models import AuditEntry, Invitation, Member
from tests.personas import new_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def seeds(settings: Settings) -> None:
    settings.DEMO_SEEDS = True


def create_demo_team(*users: User) -> str:
    said = StringIO()
    call_command("create_demo_team", *(user.email for user in users), stdout=said)
    return said.getvalue()


def test_a_team_has_an_owner_an_admin_a_member_and_an_invitation() -> None:
    alice, bob, charlie = (new_user(name) for name in ("alice", "bob", "charlie"))

    assert "a team of 3" in create_demo_team(alice, bob, charlie)

    roles = {member.account: member.role for member in Member.objects.all()}
    assert roles == {alice: "owner", bob: "admin", charlie: "member"}
    assert Member.objects.get(pk=alice.pk).team.name == NAME
    assert Invitation.objects.get().address == INVITED
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert [*actions] == ["team_created", "member_joined", "member_joined", "invitation_sent"]


def test_who_is_in_a_team_gets_no_other_one() -> None:
    alice, bob = new_user("alice"), new_user("bob")
    create_demo_team(alice, bob)

    assert create_demo_team(alice, bob) == ""
    assert Member.objects.count() == 2


def test_there_is_none_in_production(settings: Settings) -> None:
    settings.DEMO_SEEDS = False
    with pytest.raises(CommandError, match="off here"):
        create_demo_team(new_user("alice"), new_user("bob"))


def test_an_unknown_address_is_told() -> None:
    with pytest.raises(CommandError, match=r"nobody@example\.com"):
        call_command("create_demo_team", new_user("alice").email, "nobody@example.com")
