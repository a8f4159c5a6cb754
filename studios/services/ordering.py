"""Places orders: hold, job, operation and row in one transaction."""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from msgspec.structs import replace

from accounts.models import User
from ai.inference.availability import check
from ai.operations import services as operations
from billing.selectors.affordability import get_spending_power
from billing.selectors.idempotency import find_result
from billing.services import idempotency
from billing.types import RequestKey
from common.errors import NotFound
from common.ids import current_request_id, uuid7
from common.threads import release_connection
from events.services import append_to_user
from media.files.selectors.outputs import storage_used
from media.files.selectors.references import check_decodable
from media.files.services.uploads import attach
from studios import user_events
from studios.calls import call_of
from studios.errors import StorageQuotaExceeded, TooManyJobs
from studios.models import Generation, ReferencePicture
from studios.preparation import PreparedOrder
from studios.selectors.jobs import JobView, count_open, view_of
from studios.types import JOBS, Kind, Status


def place(*, prepared: PreparedOrder, request_key: RequestKey | None) -> tuple[JobView, bool]:
    """Place an order, once for each `request_key`. Returns its job, and whether an earlier request
    has placed it.

    Raises IdempotencyMismatch, NotFound where the earlier job is deleted, ProviderNotAvailable,
    CallsKeepFailing, TooManyJobs, StorageQuotaExceeded, the order's `parent_gone`, UploadNotFound,
    ValidationFailed for a picture that cannot be decoded, StorageUnavailable, ServiceUnavailable,
    and what a hold raises (PaymentRequired).
    """
    if prepared.uploads and not (request_key and find_result(prepared.user, request_key)):
        _check_pictures(prepared)
    return _place(prepared, request_key)


def _check_pictures(prepared: PreparedOrder) -> None:
    """Decode them before anything is held: a provider may bill an order that it cannot carry out.
    That costs processor time, and is not done for an order that would be refused anyway."""
    user, terms = prepared.user, prepared.order.terms
    check(prepared.model, user.pk)
    check_room(user)
    cost = terms.cost_of(terms.quantity)
    refusal = get_spending_power(user).refusal_of(prepared.model.id, cost)
    if refusal is not None:
        raise refusal
    release_connection()
    for upload in prepared.uploads:
        check_decodable(upload, loc=prepared.places[upload.pk])


@transaction.atomic
def _place(prepared: PreparedOrder, request_key: RequestKey | None) -> tuple[JobView, bool]:
    user = prepared.user
    earlier = idempotency.claim(account=user, request_key=request_key)
    if earlier is not None and (generation := _find_earlier(user, earlier)):
        return view_of(generation), True
    check(prepared.model, user.pk)
    check_room(user)
    prepared = _lock_parent(prepared)
    generation = Generation(
        id=uuid7(),
        account=user,
        kind=prepared.kind,
        model=prepared.model.id,
        prompt=prepared.prompt,
        params=prepared.params,
        parent=prepared.parent,
        is_extension=prepared.parent is not None and prepared.kind == Kind.VIDEO,
        lead_seconds=prepared.lead_seconds,
    )
    call = call_of(
        prepared.kind,
        request_id=current_request_id() or str(generation.pk),
        account_id=user.pk,
        model=prepared.model,
        order=prepared.order,
    )
    operations.start(
        call=call,
        operation_id=generation.pk,
        request=call.order.as_json(),
        kind=JOBS[prepared.kind],
        account=user,
    )
    generation.save(force_insert=True)
    attach(uploads=prepared.uploads, places=prepared.places)
    ReferencePicture.objects.bulk_create(
        ReferencePicture(generation=generation, upload=upload) for upload in prepared.uploads
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


def _lock_parent(prepared: PreparedOrder) -> PreparedOrder:
    """The order with its parent as it is now, which cannot be deleted before the transaction ends.
    Raises the order's `parent_gone`."""
    if prepared.parent is None:
        return prepared
    rows = Generation.objects.select_for_update(no_key=True)
    parent = rows.filter(account=prepared.user, pk=prepared.parent.pk, deleted_at=None).first()
    if parent is None:
        raise prepared.parent_gone or NotFound()
    return replace(prepared, parent=parent)


def _find_earlier(user: User, job_id: UUID) -> Generation | None:
    """The job that an earlier identical request began; None where it was not billed, so that the
    request may be carried out again. Raises NotFound where the job was deleted."""
    generation = Generation.objects.filter(account=user, pk=job_id, deleted_at=None).first()
    if generation is None:
        raise NotFound("What this request began has been deleted.")
    return None if generation.status in (Status.FAILED, Status.CANCELLED) else generation
