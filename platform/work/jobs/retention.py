"""How long the rows of jobs are kept."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, QuerySet
from django.db.models.functions import Now

from work.jobs.models import Job

_reasons: list[Exists] = []


def keep_while(reason: Exists) -> None:
    """Keep ended jobs for which there is such a row, whose `OuterRef`s are to the job. An app says
    so when it is ready."""
    _reasons.append(reason)


def deletable() -> QuerySet[Job]:
    """The jobs that ended JOBS_KEPT_DAYS ago, and that no app needs any more."""
    old = Job.objects.filter(ended_at__lt=Now() - timedelta(days=settings.JOBS_KEPT_DAYS))
    return old.filter(*(~reason for reason in _reasons))
