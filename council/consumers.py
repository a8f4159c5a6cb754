"""The live socket of a council session."""

from events.consumer import StreamConsumer


class CouncilConsumer(StreamConsumer):
    kind = "council"
