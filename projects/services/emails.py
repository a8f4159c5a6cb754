"""The mail to the user of a run that stands or has ended. It has no text of users or models: the
title of a run is theirs."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from django.core.mail import EmailMultiAlternatives

from accounts.models import OutgoingEmail, User
from accounts.services import email_kinds
from accounts.services.email_kinds import EmailKind
from accounts.services.emails import request_email
from projects.activity import advice_of
from projects.models import Run
from projects.types import PauseReason, RunStatus

# A run that goes on within this time tells nothing.
_DELAY: Final = timedelta(minutes=1)
_TOLD = frozenset({RunStatus.PAUSED, RunStatus.COMPLETED, RunStatus.FAILED})


def tell_by_mail(run: Run) -> None:
    """Request the mail of a run that has just been paused, or has ended, where its user wants it
    and has not done it. One that waits already will say how the run stands then."""
    if not run.wants_mail or not _is_news(run):
        return
    waiting = OutgoingEmail.objects.filter(kind=RUN.name, about=run.pk, ended_at=None)
    if not waiting.exists():
        request_email(kind=RUN.name, address=run.account.email, about=run.pk, after=_DELAY)


def _is_news(run: Run) -> bool:
    return run.status in _TOLD and run.pause_reason != PauseReason.USER


def _compose(kind: EmailKind, email: OutgoingEmail) -> EmailMultiAlternatives | None:
    """The mail says how the run stands now. None where it goes on, or is nobody's any more."""
    wanted = Run.objects.select_related("account").filter(wants_mail=True)
    run = wanted.filter(pk=email.about).first() if email.about is not None else None
    if run is None or not _is_news(run) or not _may_be_told(run.account, email.address):
        return None
    named = replace(kind, subject=f"{kind.subject} {run.status}", page=f"{kind.page}/{run.pk}")
    return email_kinds.render(
        named,
        email.address,
        begun=run.created_at,
        status=run.status,
        advice=advice_of(run.pause_reason, run.error),
    )


def _may_be_told(user: User, address: str) -> bool:
    is_theirs = user.email == address and user.is_of_its_address
    return is_theirs and user.status == User.Status.ACTIVE


RUN = EmailKind(
    name="project_run",
    subject="Your project run is",
    page="/projects",
    template="projects/emails/run",
    compose=_compose,
)
