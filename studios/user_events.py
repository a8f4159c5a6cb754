"""Events of generation jobs in the user's own stream."""

from collections.abc import Mapping
from uuid import UUID

from events.types import SYSTEM, USER, NewEvent
from studios.models import Generation
from studios.selectors.jobs import JobView, view_of
from studios.serializers.jobs import JobSerializer
from studios.types import Status


def created(view: JobView) -> NewEvent:
    return NewEvent("job.created", _shown(view), USER)


def updated(generation: Generation, actor: str = SYSTEM) -> NewEvent:
    """It has begun, it has come further, or it was starred."""
    return NewEvent("job.updated", _shown(view_of(generation)), actor)


def ended(generation: Generation) -> NewEvent:
    """The event of a job that has just ended."""
    shown = _shown(view_of(generation))
    match generation.status:
        case Status.COMPLETED:
            return NewEvent("job.completed", shown)
        case Status.CANCELLED:
            return NewEvent("job.cancelled", shown)
        case _:
            return NewEvent("job.failed", shown)


def deleted(generation_id: UUID) -> NewEvent:
    return NewEvent("job.deleted", {"job_id": generation_id}, USER)


def blank(generation: Generation) -> Mapping[str, object]:
    """What earlier events show of a job that is deleted: neither what was asked for, nor what was
    made of it, nor why it failed."""
    kept = Generation(
        id=generation.pk,
        kind=generation.kind,
        model=generation.model,
        status=generation.status,
        created_at=generation.created_at,
    )
    shown: Mapping[str, object] = JobSerializer(JobView(generation=kept)).data
    return shown


def _shown(view: JobView) -> Mapping[str, object]:
    return {"job": JobSerializer(view).data}
