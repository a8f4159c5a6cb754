"""The kinds of generation jobs, their statuses and their limits."""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import TextChoices
from msgspec import Struct

from common.errors import DomainError

MAX_PROMPT: Final = 4_000  # characters
MAX_QUERY: Final = 200  # characters


class Kind(TextChoices):
    """What a job makes; also the modality of its model."""

    IMAGE = "image"
    VIDEO = "video"
    ASSET = "3d", "3D"


class Status(TextChoices):
    """The status of a job; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


# The kinds of `work.jobs.models.Job`.
JOBS: Final[Mapping[Kind, str]] = {
    Kind.IMAGE: "studios.image",
    Kind.VIDEO: "studios.video",
    Kind.ASSET: "studios.3d",
}
# The feature of a plan that each kind needs. Whoever can pay makes pictures.
FEATURES: Final[Mapping[Kind, str]] = {Kind.VIDEO: "videos", Kind.ASSET: "assets_3d"}
# Seconds from the order to the provider's verdict.
DEADLINES: Final[Mapping[Kind, float]] = {
    Kind.IMAGE: 600.0,
    Kind.VIDEO: 3_600.0,
    Kind.ASSET: 3_600.0,
}
# Progress is told in steps of so many percent.
PROGRESS_STEP: Final = 10


class Estimate(Struct, frozen=True, kw_only=True):
    """What would be paid, from plan and balance, and the free balance; in nano-USD. The price list
    says exactly what a job costs at most, and mostly does cost. `params` are those of the order,
    with the model's defaults."""

    model: str
    params: dict[str, Any]
    expected: int
    at_most: int
    available: int
    refusal: DomainError | None
