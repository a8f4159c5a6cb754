"""The ids of messages in paths."""

from django.urls import register_converter

from conversations.types import MESSAGE_ID


class MessageIdConverter:
    """A message's id, or its client's id for it. Both are compared exactly."""

    regex = MESSAGE_ID

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: object) -> str:
        return str(value)


register_converter(MessageIdConverter, "message")
