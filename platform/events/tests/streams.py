"""Streams for tests, written as products write them."""

from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from common.ids import uuid7
from events import services
from events.types import NewEvent


def new_stream(account: User, kind: str = "council", *, events: int = 0) -> UUID:
    """A stream, with so many events."""
    stream_id = uuid7()
    with transaction.atomic():
        services.open_stream(stream_id=stream_id, kind=kind, account=account)
        if events:
            append(stream_id, *range(events))
    return stream_id


def append(stream_id: UUID, *data: Any) -> int:
    """Events with these data in one transaction. Returns the last seq."""
    with transaction.atomic():
        return services.append(
            stream_id=stream_id,
            events=[NewEvent("card.delta", {"value": value}) for value in data],
        )
