"""Makes exports on the worker's event loop."""

from tempfile import TemporaryFile
from typing import IO
from uuid import UUID

import structlog
from django.core.files import File

from accounts.models import User
from common.threads import in_outside_thread, in_thread, release_connection
from media.files.errors import StorageUnavailable
from media.files.services.outputs import store_file
from media.files.types import EXPORT
from privacy.archive import Archive
from privacy.errors import ExportStopped
from privacy.services import exports
from privacy.types import EXPORT_SECONDS
from work.jobs.handlers import Handler, RecoveryAction
from work.jobs.models import Job
from work.jobs.running import RunningJob

log = structlog.get_logger(__name__)


class ExportHandler(Handler):
    """Writes the archive into a temporary file, and stores it when it is whole. A lost job starts
    again from nothing."""

    def recovery_action(self, job_id: UUID, attempt: int) -> RecoveryAction:
        return RecoveryAction.START_AGAIN

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        exports.fail(job_id=job_id, attempt=attempt)

    async def run(self, job: RunningJob) -> None:
        user = await in_thread(exports.start, job_id=job.id, attempt=job.attempt)
        if user is None:
            return
        try:
            await self._make(job, user)
        except ExportStopped:
            status = Job.Status.CANCELLED
            await in_thread(exports.fail, job_id=job.id, attempt=job.attempt, status=status)
        except (OSError, StorageUnavailable):
            log.exception("export.not_made", job_id=str(job.id))
            await in_thread(exports.fail, job_id=job.id, attempt=job.attempt)

    async def _make(self, job: RunningJob, user: User) -> None:
        with TemporaryFile() as file:
            size = await in_outside_thread(_write, user, file, job)
            file_id = await store_file(
                account_id=user.pk,
                content=File(file),
                media_type=EXPORT,
                keep_seconds=EXPORT_SECONDS,
            )
        await in_thread(
            exports.complete, job_id=job.id, attempt=job.attempt, file_id=file_id, size=size
        )


def _write(user: User, file: IO[bytes], job: RunningJob) -> int:
    """Returns the size. It is stopped soon after its job is cancelled or lost."""
    try:
        Archive(user, file, lambda: not job.lost and job.signal != Job.Signal.CANCEL).write()
    finally:
        release_connection()
    return file.seek(0, 2)
