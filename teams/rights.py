"""Who may do what in a team: pure functions of roles."""

from teams.models import Role

_RANKS = {Role.MEMBER: 0, Role.ADMIN: 1, Role.OWNER: 2}
# Owner and admins: they rename the team, invite, and read invitations and the audit log.
MANAGERS = (Role.OWNER, Role.ADMIN)
# The choices of a role that is given. Nobody is made the owner but by a transfer.
GIVEN_ROLES = [choice for choice in Role.choices if choice[0] != Role.OWNER]


def manages(role: str) -> bool:
    """Does somebody of this role manage the team?"""
    return role in MANAGERS


def is_above(role: str, other: str) -> bool:
    """May somebody of `role` give the role `other`, and act on those who have it?"""
    return _RANKS[Role(role)] > _RANKS[Role(other)]


def roles_below(role: str) -> list[Role]:
    """The roles that somebody of `role` may give."""
    return [other for other in Role if is_above(role, other)]
