"""The examples of the AsyncAPI document: events in their envelope, and the parts of replies."""

from typing import Any

from apidocs.examples.story import CHAT, ID, OTHER_CHAT, Like
from apidocs.examples.values import Values
from council.types import STREAM as COUNCIL
from events.types import SYSTEM, USER, USER_STREAM, model_actor
from projects.types import STREAM as PROJECT

# Whose id streams of that kind have, and who writes most of their events.
_STREAMS = {
    COUNCIL: ("council", model_actor(CHAT)),
    PROJECT: ("run", SYSTEM),
    USER_STREAM: ("user", USER),
}
# Who writes the others.
ACTORS = {
    **dict.fromkeys(
        (
            "council.session.created",
            "council.card.created",
            "council.card.version.created",
            "council.card.restored",
            "council.card.removed",
            "council.message.created",
            "council.merge.started",
            "council.debate.started",
            "project.run.created",
            "project.run.paused",
            "project.run.resumed",
            "project.run.cancelled",
            "project.run.reopened",
            "project.run.renamed",
            "project.plan.updated",
            "project.subtask.cancelled",
            "project.subtask.reassigned",
            "project.subtask.replaced",
            "project.subtask.stale",
            "project.subtask.removed",
            "project.changes.applied",
            "project.changes.discarded",
            "project.message.created",
        ),
        USER,
    ),
    **dict.fromkeys(
        (
            "council.session.updated",
            "council.session.completed",
            "council.debate.round.completed",
            "council.debate.completed",
            "council.usage.updated",
            "user.council.updated",
            "user.project.updated",
            "user.job.updated",
            "user.job.completed",
            "user.job.failed",
            "user.job.cancelled",
            "user.connector.updated",
            "user.workspace.updated",
            "user.export.completed",
            "user.export.failed",
        ),
        SYSTEM,
    ),
    **dict.fromkeys(
        (
            "project.plan.created",
            "project.subtask.created",
            "project.subtask.delta",
            "project.subtask.file",
            "project.subtask.tool",
            "project.final.started",
            "project.final.ended",
            "project.final.delta",
        ),
        model_actor(CHAT),
    ),
    **dict.fromkeys(
        (
            "council.card.updated",
            "council.merge.completed",
            "council.merge.failed",
            "project.review.completed",
        ),
        model_actor(OTHER_CHAT),
    ),
}


def event_example(values: Values, kind: str, event_type: str, data: Like) -> dict[str, Any]:
    """An event of that type in a stream of that kind. Raises LookupError for what has no sample."""
    stream, actor = _STREAMS[kind]
    envelope = Like(
        "Event",
        type=event_type,
        session_id=ID[stream],
        actor=ACTORS.get(f"{kind}.{event_type}", actor),
        data=data,
    )
    example: dict[str, Any] = values.written(envelope)
    return example


def part_example(values: Values, part: str, data: Like) -> dict[str, Any]:
    """A part of a reply: its type stands beside its data. Raises LookupError."""
    return {"type": part, **values.written(data)}
