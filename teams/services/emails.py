"""The mail of an invitation. It names neither the team nor who invites: users chose those names,
and the mail goes to strangers."""

from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.utils import timezone

from accounts.models import OutgoingEmail
from accounts.selectors.outgoing_emails import mailed_addresses
from accounts.services import email_kinds
from accounts.services.email_kinds import EmailKind
from common import link_tokens
from teams import user_events
from teams.models import Invitation
from teams.services.locks import lock_invitation
from teams.services.records import publish
from teams.tokens import digest
from teams.types import INVITATION_LIFETIME, MAX_MAILS_PER_MAILBOX


def _compose(kind: EmailKind, email: OutgoingEmail) -> EmailMultiAlternatives | None:
    """The mail with a new token, after which earlier ones are dead. None where the invitation has
    ended, or where the mailbox has received enough."""
    if email.about is None or len(mailed_addresses(email)) >= MAX_MAILS_PER_MAILBOX:
        return None
    token = link_tokens.generate()
    with transaction.atomic():
        usable = Invitation.objects.usable().select_related("invited_by")
        invitation = lock_invitation(usable.filter(pk=email.about))
        if invitation is None:
            return None
        invitation.digest, invitation.sent_at = digest(token), timezone.now()
        invitation.save(update_fields=["digest", "sent_at"])
        publish(invitation.team_id, managers=[user_events.invite_updated(invitation)])
    return email_kinds.render(kind, email.address, token=token, days=INVITATION_LIFETIME.days)


INVITATION = EmailKind(
    name="team_invitation",
    subject="You are invited to a team",
    page="/invitations",
    template="teams/emails/invitation",
    compose=_compose,
)
