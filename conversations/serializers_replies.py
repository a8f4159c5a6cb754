"""What is answered to those who have a message answered."""

from typing import Any

from rest_framework import serializers

from billing.serializers.usage import UsageSerializer
from conversations.serializers import MessageSerializer


class ExchangeSerializer(serializers.Serializer[dict[str, Any]]):
    """A message and its reply, which has ended. `usage` is the reply's."""

    user_message = MessageSerializer(read_only=True)
    message = MessageSerializer(read_only=True)
    usage = UsageSerializer(read_only=True, allow_null=True)
