"""The errors of the studios."""

from common.errors import Conflict, DomainError
from common.money import usd, usd_text


class TooManyJobs(DomainError):
    code, status = "too_many_jobs", 429
    message = "Too many of your jobs wait or run. Wait until one has ended, or cancel one."

    def __init__(self) -> None:
        super().__init__(retry_after=10)


class StorageQuotaExceeded(Conflict):
    """`used` and `limit` are in bytes."""

    code = "storage_quota_exceeded"
    message = "There is no room for another result. Delete results that you do not need."


class JobNotFinished(Conflict):
    code = "job_not_finished"
    message = "This job has no result. Only a finished job can be continued."


class CannotBeContinued(Conflict):
    code = "cannot_be_continued"
    message = "This model cannot continue its results. Make a new one instead."


class ClipTooLong(Conflict):
    code = "clip_too_long"
    message = "The clip would be longer than its model makes them."


class WouldBeBilled(Conflict):
    code = "would_be_billed"
    message = "This job is at its provider, and may be billed although its result is thrown away."

    def __init__(self, *, at_most: int) -> None:
        """`at_most` is what is held for the job, in nano-USD."""
        super().__init__(
            "This job is at its provider. If that finishes it all the same, up to"
            f" {usd_text(at_most)} is billed. Cancel it, and what is finished is delivered; or"
            " delete it with `confirm=true`, and nothing is.",
            at_most_usd=usd(at_most),
        )


class NothingToRetry(Conflict):
    code = "nothing_to_retry"
    message = "Only a job that has failed or was cancelled can be tried again."
