"""Whatever people do in teams, in any order: each team has one owner, each person at most one team,
and invitations are what an oracle says.

What happens at the same moment is for test_at_once.py. How to live through more lives:
tests/lives.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
from django.db.models import Count, Q
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from accounts.models import OutgoingEmail, User
from accounts.services import users
from accounts.tests.mailbox import delivered, token_in
from common.errors import DomainError
from teams.models import Invitation, Member, Role, Team
from teams.services import answers, invitations, members, teams
from teams.tests.people import verify
from teams.tokens import digest
from tests.lives import RolledBackLife, live_through
from tests.personas import new_user

T = TypeVar("T")

PEOPLE = 5
PICK = st.integers(min_value=0, max_value=60)
WHO = st.integers(min_value=0, max_value=PEOPLE - 1)
LAST = -1
GIVEN = st.sampled_from(["admin", "member"])
RANK = {"owner": 2, "admin": 1, "member": 0}


@dataclass
class Invited:
    """What the oracle knows of a pending invitation. `token` is in the newest mail."""

    team: UUID
    who: int
    by: int
    role: str
    token: str = ""
    is_expired: bool = False


def one(choices: Sequence[T], pick: int) -> T:
    return choices[pick % len(choices)]


class Life(RolledBackLife):
    """The oracle: who is in which team with which role, and who is invited where.

    Most rules pick somebody who is in a team, and most often somebody else of the same team whom it
    is about: otherwise hypothesis would hardly find two who have to do with each other.
    """

    @initialize()
    def a_team_is_there(self) -> None:
        self.people = [verify(new_user(f"person{n}")) for n in range(PEOPLE)]
        self.teams: dict[UUID, dict[int, str]] = {}
        self.invited: list[Invited] = []
        self.dead: list[str] = ["unknown"]
        self.closed: set[int] = set()
        self.create(0)
        self.join(0, 1, "admin")
        self.join(0, 2, "member")

    # --- What they do -----------------------------------------------------------------------------

    @rule(who=WHO)
    def create(self, who: int) -> None:
        outcome = self.attempt(lambda: teams.create(user=self.people[who], name="Sea"))
        if who in self.closed:
            assert outcome == "invalid_token"
        elif self.team_of(who):
            assert outcome == "already_in_team"
        else:
            self.teams[Member.objects.get(account=self.people[who]).team_id] = {who: "owner"}

    @rule(pick=PICK, whom=WHO, role=GIVEN)
    def join(self, pick: int, whom: int, role: str) -> None:
        """Somebody is invited, and accepts."""
        self.invite(pick, whom, role, is_sent=True)
        self.accept(LAST, whom)

    @rule(pick=PICK, whom=WHO, role=GIVEN, is_sent=st.booleans())
    def invite(self, pick: int, whom: int, role: str, is_sent: bool) -> None:
        who, address = self.somebody(pick), self.people[whom].email
        team = self.team_of(who)
        pending = self.pending(team, whom) if team else None
        outcome = self.attempt(
            lambda: invitations.invite(user=self.people[who], address=address, role=role)
        )
        if team is None:
            assert outcome == "no_team"
            return
        mine = RANK[self.teams[team][who]]
        if mine <= RANK[role]:
            assert outcome == "role_too_low"
        elif whom in self.teams[team]:
            assert outcome == "already_member"
        elif pending and mine <= RANK[pending.role]:
            assert outcome == "role_too_low"
        else:
            assert outcome == ""
            if pending:
                self.end(pending)
            self.invited.append(Invited(team, whom, who, role))
        if is_sent:
            self.send_mails(whom)

    @rule(pick=PICK, who=st.none() | WHO)
    def accept(self, pick: int, who: int | None) -> None:
        """By whoever is invited, or by somebody."""
        token, invitation = self.pick_token(pick)
        if who is None:
            who = invitation.who if invitation else 0
        outcome = self.attempt(lambda: answers.accept(user=self.people[who], token=token))
        if invitation is None or invitation.is_expired:
            assert outcome == "invitation_not_found"
        elif who in self.closed:
            assert outcome == "invalid_token"
        elif invitation.who != who:
            assert outcome == "invitation_for_other_address"
        elif self.team_of(who):
            assert outcome == "already_in_team"
        else:
            assert outcome == ""
            self.teams[invitation.team][who] = invitation.role
            self.end(invitation)

    @rule(pick=PICK)
    def decline(self, pick: int) -> None:
        token, invitation = self.pick_token(pick)
        outcome = self.attempt(lambda: answers.decline(token=token))
        if invitation is None or invitation.is_expired:
            assert outcome == "invitation_not_found"
        else:
            assert outcome == ""
            self.end(invitation)

    @precondition(lambda self: self.invited)
    @rule(pick=PICK, other=PICK, again=st.booleans())
    def revoke_or_resend(self, pick: int, other: int, again: bool) -> None:
        pending = one(self.invited, pick)
        who = one(list(self.teams[pending.team]), other)
        address = self.people[pending.who].email
        row = Invitation.objects.pending().get(team=pending.team, address=address).pk
        service: Any = invitations.resend if again else invitations.revoke
        outcome = self.attempt(lambda: service(user=self.people[who], invitation_id=row))
        if RANK[self.teams[pending.team][who]] <= RANK[pending.role]:
            assert outcome == "role_too_low"
            return
        assert outcome == ""
        self.end(pending)
        if again:
            self.invited.append(Invited(pending.team, pending.who, who, pending.role))
            self.send_mails(pending.who)

    @precondition(lambda self: self.invited)
    @rule(pick=PICK)
    def a_week_passes(self, pick: int) -> None:
        each = one(self.invited, pick)
        each.is_expired = True
        rows = Invitation.objects.pending().filter(team=each.team)
        rows = rows.filter(address=self.people[each.who].email)
        rows.update(expires_at=timezone.now() - timedelta(seconds=1))

    @rule(pick=PICK)
    def leave(self, pick: int) -> None:
        who = self.somebody(pick)
        team = self.team_of(who)
        outcome = self.attempt(lambda: members.leave(user=self.people[who]))
        if team is None:
            assert outcome == "no_team"
        elif len(self.teams[team]) == 1:
            assert outcome == ""
            self.delete_team(team)
        elif self.teams[team][who] == "owner":
            assert outcome == "transfer_first"
        else:
            assert outcome == ""
            self.depart(team, who)

    @rule(pick=PICK, other=PICK)
    def remove(self, pick: int, other: int) -> None:
        who, whom = self.two(pick, other)
        team, user = self.team_of(who), self.people[who]
        outcome = self.attempt(lambda: members.remove(user=user, member_id=self.people[whom].pk))
        refusal = self.refusal(team, who, whom)
        assert outcome == refusal
        if team and not refusal:
            self.depart(team, whom)

    @rule(pick=PICK, other=PICK, role=GIVEN)
    def change_role(self, pick: int, other: int, role: str) -> None:
        who, whom = self.two(pick, other)
        team, user, member_id = self.team_of(who), self.people[who], self.people[whom].pk
        outcome = self.attempt(
            lambda: members.change_role(user=user, member_id=member_id, role=role)
        )
        refusal = self.refusal(team, who, whom)
        if team and not refusal and RANK[self.teams[team][who]] <= RANK[role]:
            refusal = "role_too_low"
        assert outcome == refusal
        if team and not refusal:
            self.teams[team][whom] = role
            self.revoke_beyond_rights(team, whom)

    @rule(pick=PICK, other=PICK)
    def transfer(self, pick: int, other: int) -> None:
        who, whom = self.two(pick, other)
        team, user, member_id = self.team_of(who), self.people[who], self.people[whom].pk
        outcome = self.attempt(lambda: members.transfer_ownership(user=user, member_id=member_id))
        if team is None:
            assert outcome == "no_team"
        elif self.teams[team][who] != "owner":
            assert outcome == "role_too_low"
        elif who == whom:
            assert outcome == "validation_failed"
        elif whom not in self.teams[team]:
            assert outcome == "member_not_found"
        else:
            assert outcome == ""
            self.pass_on(team, who, whom)

    @rule(pick=PICK)
    def delete(self, pick: int) -> None:
        who = self.somebody(pick)
        team = self.team_of(who)
        outcome = self.attempt(lambda: teams.delete(user=self.people[who]))
        if team is None:
            assert outcome == "no_team"
        elif self.teams[team][who] != "owner":
            assert outcome == "role_too_low"
        else:
            assert outcome == ""
            self.delete_team(team)

    @rule(who=WHO)
    def close_or_open_the_account(self, who: int) -> None:
        team = self.team_of(who)
        user = User.objects.get(pk=self.people[who].pk)
        if who in self.closed:
            users.reactivate(user=user)
            self.closed.remove(who)
            return
        users.deactivate(user=user)
        self.closed.add(who)
        if team is None:
            return
        if len(self.teams[team]) == 1:
            self.delete_team(team)
            return
        if self.teams[team][who] == "owner":
            self.pass_on(team, who, self.heir(team))
        self.depart(team, who)

    # --- Whom it is about -------------------------------------------------------------------------

    def somebody(self, pick: int) -> int:
        """Somebody who is in a team, one time in four anybody."""
        inside = [who for roles in self.teams.values() for who in roles]
        return one(inside, pick) if inside and pick % 4 else pick % PEOPLE

    def two(self, pick: int, other: int) -> tuple[int, int]:
        """Somebody, and somebody of the same team, one time in four anybody."""
        who = self.somebody(pick)
        team = self.team_of(who)
        return who, one(list(self.teams[team]), other) if team and other % 4 else other % PEOPLE

    def pick_token(self, pick: int) -> tuple[str, Invited | None]:
        """The token of an invitation, or a dead one."""
        sent = [each for each in self.invited if each.token]
        if not sent or pick % 8 == 1:
            return self.dead[-1], None
        invitation = one(sent, pick)
        return invitation.token, invitation

    def send_mails(self, whom: int) -> None:
        """Deliver what is due to somebody. The limits of mails are for other tests."""
        for message in delivered(self.people[whom].email):
            if "/invitations?" in str(message.body):
                token = token_in(message)
                row = Invitation.objects.pending().filter(digest=digest(token)).first()
                if row and (invitation := self.pending(row.team_id, whom)):
                    invitation.token = token
        OutgoingEmail.objects.exclude(ended_at=None).delete()

    # --- What the oracle knows --------------------------------------------------------------------

    def attempt(self, act: Callable[[], object]) -> str:
        """The code of a refusal, empty where there was none."""
        try:
            act()
        except DomainError as refusal:
            return refusal.code
        return ""

    def team_of(self, who: int) -> UUID | None:
        return next((team for team, roles in self.teams.items() if who in roles), None)

    def pending(self, team: UUID, whom: int) -> Invited | None:
        found = (each for each in self.invited if (each.team, each.who) == (team, whom))
        return next(found, None)

    def refusal(self, team: UUID | None, who: int, whom: int) -> str:
        """Why somebody may not act on a member; empty where they may."""
        if team is None:
            return "no_team"
        if who == whom:
            return "own_role"
        if whom not in self.teams[team]:
            return "member_not_found"
        is_above = RANK[self.teams[team][who]] > RANK[self.teams[team][whom]]
        return "" if is_above else "role_too_low"

    def heir(self, team: UUID) -> int:
        """Who owns the team now; who it shall be is for test_departed.py."""
        pk = Member.objects.get(team=team, role=Role.OWNER).account_id
        return next(n for n, user in enumerate(self.people) if user.pk == pk)

    def end(self, invitation: Invited) -> None:
        self.invited.remove(invitation)
        self.dead.append(invitation.token or "unknown")

    def revoke_beyond_rights(self, team: UUID, who: int) -> None:
        rank = RANK[self.teams[team][who]] if who in self.teams[team] else 0
        for each in [each for each in self.invited if (each.team, each.by) == (team, who)]:
            if RANK[each.role] >= rank:
                self.end(each)

    def depart(self, team: UUID, who: int) -> None:
        del self.teams[team][who]
        self.revoke_beyond_rights(team, who)

    def pass_on(self, team: UUID, owner: int, heir: int) -> None:
        self.teams[team] |= {owner: "admin", heir: "owner"}
        self.revoke_beyond_rights(team, owner)

    def delete_team(self, team: UUID) -> None:
        del self.teams[team]
        for each in [each for each in self.invited if each.team == team]:
            self.end(each)

    # --- What is so at every moment ---------------------------------------------------------------

    @invariant()
    def each_team_has_one_owner_and_each_person_one_team(self) -> None:
        owners = Count("members", filter=Q(members__role="owner"))
        assert not Team.objects.annotate(owners=owners).exclude(owners=1).exists()
        assert Member.objects.filter(account__status="deactivated").count() == 0

    @invariant()
    def members_are_who_the_oracle_says(self) -> None:
        numbers = {user.pk: n for n, user in enumerate(self.people)}
        rows: dict[UUID, dict[int, str]] = {team.pk: {} for team in Team.objects.all()}
        for member in Member.objects.all():
            rows[member.team_id][numbers[member.account_id]] = member.role
        assert rows == self.teams

    @invariant()
    def invitations_are_what_the_oracle_says(self) -> None:
        numbers = {user.email: n for n, user in enumerate(self.people)}
        by = {user.pk: n for n, user in enumerate(self.people)}
        rows = {
            (each.team_id, numbers[each.address], by[each.invited_by_id], each.role)
            for each in Invitation.objects.pending()
        }
        assert rows == {(each.team, each.who, each.by, each.role) for each in self.invited}

    @invariant()
    def whoever_invites_may_do_so(self) -> None:
        for each in self.invited:
            assert RANK[self.teams[each.team][each.by]] > RANK[each.role]


@pytest.mark.usefixtures("db")
def test_whatever_people_do_each_team_has_one_owner() -> None:
    live_through(Life, lives=25, steps=40)
