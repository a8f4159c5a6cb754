"""The types of the events of generation jobs (`studios/user_events.py`)."""

from rest_framework import serializers

from events.declarations import EventType
from studios.serializers.jobs import JobSerializer

_ROW = {"job": JobSerializer()}

USER_EVENTS = [
    EventType("job.created", "pictures, a clip or a 3D asset were ordered", _ROW),
    EventType(
        "job.updated",
        "it runs, it has come ten percent further, it was starred, or a result of it was taken "
        "down by an operator; not told: its place in the queue, and results that are not kept any "
        "more",
        _ROW,
        {"job": {"status": "running"}},
    ),
    EventType("job.completed", "its results are there", _ROW),
    EventType(
        "job.failed", "its `error` says why", _ROW, {"job": {"status": "failed", "error": {}}}
    ),
    EventType("job.cancelled", "you have cancelled it", _ROW, {"job": {"status": "cancelled"}}),
    EventType(
        "job.deleted",
        "you have deleted it; earlier events of it have only its id, kind, model and status from"
        " now on",
        {"job_id": serializers.UUIDField()},
    ),
]
