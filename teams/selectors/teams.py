"""Teams for their members."""

from django.db.models import Prefetch

from accounts.models import User
from teams.errors import NoTeam, RoleTooLow
from teams.models import Member
from teams.rights import manages


def get_membership(user: User) -> Member:
    """The user's membership; its team has `listed_members`, with their accounts, in the order in
    which they joined. Raises NoTeam."""
    listed = Member.objects.select_related("account").order_by("joined_at", "account_id")
    members = Member.objects.select_related("team").prefetch_related(
        Prefetch("team__members", listed, to_attr="listed_members")
    )
    member = members.filter(account=user).first()
    if member is None:
        raise NoTeam
    return member


def get_managed(user: User) -> Member:
    """The membership of an owner or admin. Raises NoTeam or RoleTooLow."""
    member = Member.objects.filter(account=user).first()
    if member is None:
        raise NoTeam
    if not manages(member.role):
        raise RoleTooLow
    return member
