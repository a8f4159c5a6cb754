"""What is written when a job begins, comes further and ends."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from msgspec import Struct

from ai.inference.errors import error_of
from ai.operations import services as operations
from ai.operations.services import Output
from ai.operations.types import End
from events.services import append_to_user
from media.files.selectors.outputs import studio_retention
from media.files.services import media
from media.files.services.media import StoredMedia
from media.files.services.uploads import release
from studios import user_events
from studios.models import Generation, GenerationOutput
from studios.types import Status
from work.jobs import services as jobs


class Results(Struct, frozen=True):
    """What a job has made, in our storage, each with its seed. `reference` is what the provider
    knows it by."""

    files: tuple[StoredMedia, ...]
    seeds: tuple[int | None, ...]
    reference: str = ""

    @property
    def file_ids(self) -> list[UUID]:
        """The ids of the files and of their thumbnails."""
        ids = [(file.file_id, file.thumbnail_id) for file in self.files]
        return [each for pair in ids for each in pair if each is not None]

    @property
    def thumbnails(self) -> dict[UUID, UUID]:
        """The ids of the thumbnails, each with that of its file."""
        return {file.thumbnail_id: file.file_id for file in self.files if file.thumbnail_id}


class GenerationEnd(Output):
    """Writes the ends of jobs."""

    def lock(self, operation_id: UUID) -> None:
        lock_generation(operation_id)

    def write_end(self, operation_id: UUID, end: End) -> None:
        """Show the end. What its user has deleted meanwhile was cancelled, whatever its provider
        has made of it; its charge says what was billed."""
        generation = lock_generation(operation_id)
        if generation is None:
            return
        generation.ended_at = Now()
        if generation.deleted_at is not None:
            generation.status = Status.CANCELLED
            generation.save()
            _forget_order(generation)
            return
        if end.outputs is not None:
            _keep(generation, end.outputs)
        generation.status = end.status
        generation.error = error_of(end.failure) if end.failure else None
        generation.save()
        generation.refresh_from_db()
        append_to_user(user_id=generation.account_id, events=[user_events.ended(generation)])


END = GenerationEnd()


def lock_generation(generation_id: UUID) -> Generation | None:
    """A job, locked until the transaction ends. None where it is erased. Jobs that refer to it may
    be committed meanwhile."""
    return Generation.objects.select_for_update(no_key=True).filter(pk=generation_id).first()


@transaction.atomic
def begin(*, job_id: UUID, attempt: int) -> None:
    """Show that a job runs. May be repeated."""
    generation = lock_generation(job_id)
    if generation is None or not jobs.is_running(job_id=job_id, attempt=attempt):
        return
    if generation.status == Status.QUEUED:
        generation.status, generation.started_at = Status.RUNNING, Now()
        _update(generation, "status", "started_at")


@transaction.atomic
def report_progress(*, job_id: UUID, percent: int) -> None:
    """Show how far a job has come. A job never goes back."""
    rows = Generation.objects.filter(Q(progress=None) | Q(progress__lt=percent), ended_at=None)
    generation = rows.select_for_update(no_key=True).filter(pk=job_id).first()
    if generation is not None:
        generation.progress = percent
        _update(generation, "progress")


def hide(generation: Generation) -> None:
    """Show a job in no list, and nothing of what was asked for, in the caller's transaction, which
    has locked it. What the provider was sent stays until the job has ended."""
    generation.deleted_at = Now()
    generation.prompt, generation.params = "", {}
    generation.save(update_fields=["deleted_at", "prompt", "params"])


def erase(generation: Generation) -> None:
    """Delete a job that has ended, in the caller's transaction, which has locked it. Its files are
    purged, and uploads that go with nothing else."""
    # The deletion changes the jobs that continue this one; all jobs are locked before files.
    list(generation.children.order_by("pk").select_for_update(no_key=True).values_list("pk"))
    outputs = generation.outputs.values_list("file_id", "thumbnail_id")
    file_ids = [each for pair in outputs for each in pair if each is not None]
    operations.blank_request(operation_id=generation.pk)
    media.let_expire(file_ids=file_ids)
    _release_uploads(generation)
    generation.delete()


def lock_for_takedown(*, file_ids: Collection[UUID], **_: object) -> None:
    """The receiver of `media.files.services.outputs.taking_down`: jobs are locked before files."""
    rows = Generation.objects.filter(pk__in=_showing(file_ids)).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk"))


def publish_takedown(*, file_ids: Collection[UUID], **_: object) -> None:
    """The receiver of `media.files.services.outputs.taken_down`: jobs have changed."""
    for job_id in _showing(file_ids):
        _tell_changed(job_id)


def _forget_order(generation: Generation) -> None:
    """Blank what the provider was sent by a job that has ended, and release its uploads."""
    operations.blank_request(operation_id=generation.pk)
    _release_uploads(generation)


def _release_uploads(generation: Generation) -> None:
    upload_ids = list(generation.references.values_list("upload_id", flat=True))
    generation.references.all().delete()
    release(upload_ids=upload_ids)


def _showing(file_ids: Collection[UUID]) -> list[UUID]:
    """The jobs that show one of these files."""
    affected = Q(outputs__file__in=file_ids) | Q(outputs__thumbnail__in=file_ids)
    rows = Generation.objects.filter(affected).order_by("pk")
    return list(rows.distinct().values_list("pk", flat=True))


@transaction.atomic
def _tell_changed(job_id: UUID) -> None:
    generation = lock_generation(job_id)
    if generation is not None and generation.deleted_at is None:
        append_to_user(user_id=generation.account_id, events=[user_events.updated(generation)])


def _update(generation: Generation, *fields: str) -> None:
    generation.save(update_fields=fields)
    if generation.deleted_at is None:
        generation.refresh_from_db()
        append_to_user(user_id=generation.account_id, events=[user_events.updated(generation)])


def _keep(generation: Generation, results: Results) -> None:
    """Keep the files, as the job's results."""
    media.keep(
        file_ids=results.file_ids,
        retention=studio_retention(),
        # A provider's preview of an asset is a picture by itself.
        thumbnails=results.thumbnails,
    )
    GenerationOutput.objects.bulk_create(
        GenerationOutput(
            generation=generation,
            position=position,
            file_id=file.file_id,
            thumbnail_id=file.thumbnail_id,
            width=file.width,
            height=file.height,
            seconds=file.seconds,
            seed=seed,
        )
        for position, (file, seed) in enumerate(zip(results.files, results.seeds, strict=True))
    )
    generation.reference = results.reference
    generation.progress = 100
    if results.files and results.files[0].seconds is not None:
        generation.seconds = generation.lead_seconds + results.files[0].seconds
