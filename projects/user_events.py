"""Events of runs for the user's own stream: the list shows another row now."""

from uuid import UUID

from events.types import USER, NewEvent
from projects.selectors.runs import RunView
from projects.serializers.runs import RunRowSerializer


def created(row: RunView) -> NewEvent:
    return NewEvent("project.created", _row(row), USER)


def updated(row: RunView) -> NewEvent:
    """Its status, its title, its subtasks or what it has cost."""
    return NewEvent("project.updated", _row(row))


def deleted(run_id: UUID) -> NewEvent:
    return NewEvent("project.deleted", {"project_id": run_id}, USER)


def _row(row: RunView) -> dict[str, object]:
    return {"project": RunRowSerializer(row).data}
