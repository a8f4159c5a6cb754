"""The live socket of a project run."""

from events.consumer import StreamConsumer
from projects.types import STREAM


class ProjectConsumer(StreamConsumer):
    kind = STREAM
