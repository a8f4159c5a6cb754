"""Places orders: hold, job, operation and row in one transaction."""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from msgspec.structs import replace

from accounts.models import User
from billing.services import idempotency
from billing.types import RequestKey
from common.errors import NotFound
from common.ids import current_request_id, uuid7
from events.services import append_to_user
from files.selectors.outputs import storage_used
from files.services.uploads import attach
from inference.availability import check
from operations import services as operations
from studios import user_events
from studios.calls import call_of
from studios.drafts import Draft
from studios.errors import StorageQuotaExceeded, TooManyJobs
from studios.models import Generation, ReferencePicture
from studios.selectors.jobs import JobView, count_open, view_of
from studios.types import JOBS, Kind, Status


@transaction.atomic
def place(*, draft: Draft, request_key: RequestKey | None) -> tuple[JobView, bool]:
    """Place an order, once for each `request_key`. Returns its job, and whether an earlier request
    has placed it.

    Raises IdempotencyMismatch, NotFound where the earlier job is deleted, ProviderNotAvailable,
    CallsKeepFailing, TooManyJobs, StorageQuotaExceeded, the draft's `parent_gone`, UploadNotFound,
    and what a hold raises (PaymentRequired).
    """
    user = draft.user
    earlier = idempotency.claim(account=user, request_key=request_key)
    if earlier is not None and (generation := _find_earlier(user, earlier)):
        return view_of(generation), True
    check(draft.model, user.pk)
    check_room(user)
    draft = _lock_parent(draft)
    generation = Generation(
        id=uuid7(),
        account=user,
        kind=draft.kind,
        model=draft.model.id,
        prompt=draft.prompt,
        params=draft.params,
        parent=draft.parent,
        is_extension=draft.parent is not None and draft.kind == Kind.VIDEO,
        lead_seconds=draft.lead_seconds,
    )
    call = call_of(
        draft.kind,
        request_id=current_request_id() or str(generation.pk),
        account_id=user.pk,
        model=draft.model,
        order=draft.order,
    )
    operations.start(
        call=call,
        operation_id=generation.pk,
        request=call.order.as_json(),
        kind=JOBS[draft.kind],
        account=user,
    )
    generation.save(force_insert=True)
    attach(uploads=draft.uploads, places=draft.places)
    ReferencePicture.objects.bulk_create(
        ReferencePicture(generation=generation, upload=upload) for upload in draft.uploads
    )
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=generation.pk)
    view = view_of(generation)
    append_to_user(user_id=user.pk, events=[user_events.created(view)])
    return view, False


def check_room(user: User) -> None:
    """Raises TooManyJobs, StorageQuotaExceeded."""
    if count_open(user) >= settings.MAX_STUDIO_JOBS:
        raise TooManyJobs
    used, limit = storage_used(user.pk), settings.STUDIO_QUOTA_MB * 1_000_000
    if used >= limit:
        raise StorageQuotaExceeded(used=used, limit=limit)


def _lock_parent(draft: Draft) -> Draft:
    """The order with its parent as it is now, which cannot be deleted before the transaction ends.
    Raises the draft's `parent_gone`."""
    if draft.parent is None:
        return draft
    rows = Generation.objects.select_for_update(no_key=True)
    parent = rows.filter(account=draft.user, pk=draft.parent.pk, deleted_at=None).first()
    if parent is None:
        raise draft.parent_gone or NotFound()
    return replace(draft, parent=parent)


def _find_earlier(user: User, job_id: UUID) -> Generation | None:
    """The job that an earlier identical request began; None where it was not billed, so that the
    request may be carried out again. Raises NotFound where the job was deleted."""
    generation = Generation.objects.filter(account=user, pk=job_id, deleted_at=None).first()
    if generation is None:
        raise NotFound("What this request began has been deleted.")
    return None if generation.status in (Status.FAILED, Status.CANCELLED) else generation
