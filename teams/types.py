"""The limits of teams and invitations."""

from datetime import timedelta

MAX_NAME = 100
MAX_MEMBERS = 100
MAX_PENDING = 100  # invitations of a team that can be accepted
MAX_TOKEN = 200  # characters of a token that is looked up; ours have 43

INVITATION_LIFETIME = timedelta(days=7)

# Within DAY: invitations that a team sends, and that one person sends in whichever teams; changes
# that owner and admins make in a team; teams that one person creates.
DAY = timedelta(days=1)
MAX_INVITATIONS_PER_DAY = 100
MAX_CHANGES_PER_DAY = 1_000
MAX_TEAMS_PER_DAY = 20
# Mails with an invitation that one mailbox gets in an hour, of all teams together.
MAX_MAILS_PER_MAILBOX = 10

# How long an invitation that cannot be accepted any more is kept, and an entry of the audit log.
ENDED_INVITATIONS_KEPT = timedelta(days=30)
AUDIT_KEPT = timedelta(days=365)
