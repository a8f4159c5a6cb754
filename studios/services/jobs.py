"""Changes of jobs by their owner: cancel, star, delete."""

from uuid import UUID

from django.db import transaction

from accounts.models import User
from ai.operations import services as operations
from billing.services import idempotency
from common.errors import NotFound
from events.services import append_to_user, blank_for_user
from events.types import USER
from studios import user_events
from studios.errors import WouldBeBilled
from studios.models import Generation
from studios.selectors.jobs import view_of
from studios.services.completion import END, erase, hide
from studios.types import Kind


@transaction.atomic
def cancel(*, user: User, job_id: UUID) -> Generation:
    """Cancel a job. One that waits ends at once; one that runs is cancelled at the provider, and
    ends as the provider says. One that has ended stays as it is. Raises NotFound."""
    # The wallet comes before all other locks.
    idempotency.claim(account=user, request_key=None)
    generation = _lock(user, job_id)
    if generation.is_open:
        operations.cancel(END, account=user, operation_id=job_id)
        generation.refresh_from_db()
    return generation


@transaction.atomic
def star(
    *, user: User, job_id: UUID, kind: Kind, starred: bool, output: int | None = None
) -> Generation:
    """Star a job or one of its results, or take the star away. Raises NotFound, also for a result
    that it does not have."""
    generation = _lock(user, job_id, kind)
    chosen = generation if output is None else generation.outputs.filter(position=output).first()
    if chosen is None:
        raise NotFound("This job has no such result.")
    changed = chosen.starred != starred
    chosen.starred = starred
    chosen.save(update_fields=["starred"])
    if changed:
        updated = user_events.updated(generation, USER)
        append_to_user(user_id=user.pk, events=[updated])
    return generation


@transaction.atomic
def delete(*, user: User, job_id: UUID, kind: Kind, confirmed: bool) -> Generation | None:
    """Delete a job with its results, and what its events have shown. One that is at its provider is
    hidden, blanked and cancelled, and billed as the provider says; it is returned. Raises NotFound,
    and WouldBeBilled for such a job unless that is `confirmed`."""
    idempotency.claim(account=user, request_key=None)
    generation = _lock(user, job_id, kind)
    blank, since = user_events.blank(generation), generation.created_at
    if generation.is_open:
        hide(generation)
        operations.cancel(END, account=user, operation_id=job_id)
        generation.refresh_from_db()
    is_at_provider = generation.is_open
    if not is_at_provider:
        erase(generation)
    elif not confirmed:
        # This undoes all of the above.
        raise WouldBeBilled(at_most=view_of(generation).held or 0)
    # No event of the job follows: all are written under its lock.
    blank_for_user(user_id=user.pk, resource="job", row_id=job_id, row=blank, since=since)
    append_to_user(user_id=user.pk, events=[user_events.deleted(job_id)])
    return generation if is_at_provider else None


def _lock(user: User, job_id: UUID, kind: Kind | None = None) -> Generation:
    """The user's job, locked until the transaction ends. Raises NotFound."""
    rows = Generation.objects.select_for_update(no_key=True)
    rows = rows.filter(account=user, pk=job_id, deleted_at=None)
    generation = (rows.filter(kind=kind) if kind else rows).first()
    if generation is None:
        raise NotFound
    return generation
