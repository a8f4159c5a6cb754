"""Serializer fields of conversations."""

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field

from common.fields import TextField
from conversations.types import MAX_CLIENT_ID, MESSAGE_ID, MESSAGE_ID_SCHEMA, MIN_CLIENT_ID

_WELL_FORMED = re.compile(MESSAGE_ID)


@extend_schema_field(MESSAGE_ID_SCHEMA)
class MessageIdField(TextField):
    """The id of a message, or its client's id for it."""

    default_error_messages = {
        "malformed": f"An id of a message has {MIN_CLIENT_ID} to {MAX_CLIENT_ID} of the characters "
        "A-Z, a-z, 0-9, _ and -, as a UUID has.",
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not _WELL_FORMED.fullmatch(text):
            self.fail("malformed")
        return text
