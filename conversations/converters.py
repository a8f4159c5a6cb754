"""The ids of messages in paths."""

from django.urls import register_converter

from conversations.types import MESSAGE_ID


class MessageIdConverter:
    """A message's own id, or the one that its client has brought. Both are compared as they stand
    there."""

    regex = MESSAGE_ID

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: object) -> str:
        return str(value)


register_converter(MessageIdConverter, "message")
