"""Whatever people do in teams, in any order: each team has one owner, each person at most one team,
and invitations are what an oracle says.

What happens at the same moment is for test_at_once.py. How to live through more lives:
tests/lives.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db.models import Count, Q
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

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

PEOPLE = 5
WHO = st.integers(min_value=0, max_value=PEOPLE - 1)
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


class Life(RolledBackLife):
    """The oracle: who is in which team with which role, and who is invited where."""

    @initialize()
    def people_come(self) -> None:
        self.people = [verify(new_user(f"person{n}")) for n in range(PEOPLE)]
        self.teams: dict[UUID, dict[int, str]] = {}
        self.invited: list[Invited] = []
        self.dead: list[str] = ["unknown"]
        self.closed: set[int] = set()

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

    @rule(who=WHO, whom=WHO, role=GIVEN)
    def invite(self, who: int, whom: int, role: str) -> None:
        address, team = self.people[whom].email, self.team_of(who)
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

    @rule(whom=WHO)
    def mails_are_sent(self, whom: int) -> None:
        """The limits of mails are for other tests."""
        sent = delivered(self.people[whom].email)
        for message in sent:
            if "/invitations?" in str(message.body):
                token = token_in(message)
                row = Invitation.objects.pending().filter(digest=digest(token)).first()
                if row and (invitation := self.pending(row.team_id, whom)):
                    invitation.token = token
        OutgoingEmail.objects.exclude(ended_at=None).delete()

    @rule(who=WHO, pick=st.integers(min_value=0, max_value=20))
    def accept(self, who: int, pick: int) -> None:
        sent = [each for each in self.invited if each.token]
        tokens = [each.token for each in sent] + self.dead[-3:]
        token = tokens[pick % len(tokens)]
        invitation = next((each for each in sent if each.token == token), None)
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

    @rule(pick=st.integers(min_value=0, max_value=20))
    def decline(self, pick: int) -> None:
        sent = [each for each in self.invited if each.token]
        tokens = [each.token for each in sent] + self.dead[-1:]
        token = tokens[pick % len(tokens)]
        invitation = next((each for each in sent if each.token == token), None)
        outcome = self.attempt(lambda: answers.decline(token=token))
        if invitation is None or invitation.is_expired:
            assert outcome == "invitation_not_found"
        else:
            assert outcome == ""
            self.end(invitation)

    @rule(who=WHO, whom=WHO, again=st.booleans())
    def revoke_or_resend(self, who: int, whom: int, again: bool) -> None:
        team = self.team_of(who)
        pending = self.pending(team, whom) if team else None
        if team is None or pending is None:
            return
        row = Invitation.objects.get(
            team=team, address=self.people[whom].email, status="pending"
        ).pk
        service: Any = invitations.resend if again else invitations.revoke
        outcome = self.attempt(lambda: service(user=self.people[who], invitation_id=row))
        if RANK[self.teams[team][who]] <= RANK[pending.role]:
            assert outcome == "role_too_low"
            return
        assert outcome == ""
        self.end(pending)
        if again:
            self.invited.append(Invited(team, whom, who, pending.role))

    @rule(pick=st.integers(min_value=0, max_value=20))
    def a_week_passes(self, pick: int) -> None:
        if self.invited:
            each = self.invited[pick % len(self.invited)]
            each.is_expired = True
            Invitation.objects.filter(
                team=each.team, address=self.people[each.who].email, status="pending"
            ).update(expires_at=timezone.now() - timedelta(seconds=1))

    @rule(who=WHO)
    def leave(self, who: int) -> None:
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

    @rule(who=WHO, whom=WHO)
    def remove(self, who: int, whom: int) -> None:
        team, user = self.team_of(who), self.people[who]
        outcome = self.attempt(lambda: members.remove(user=user, member_id=self.people[whom].pk))
        refusal = self.refusal(team, who, whom)
        assert outcome == refusal
        if team and not refusal:
            self.depart(team, whom)

    @rule(who=WHO, whom=WHO, role=GIVEN)
    def change_role(self, who: int, whom: int, role: str) -> None:
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

    @rule(who=WHO, whom=WHO)
    def transfer(self, who: int, whom: int) -> None:
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

    @rule(who=WHO)
    def delete(self, who: int) -> None:
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
