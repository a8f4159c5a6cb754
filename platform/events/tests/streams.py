"""Streams for tests, written as products write them."""

import json
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from common.ids import uuid7
from events import services
from events.models import Event, Stream
from events.types import USER_STREAM, NewEvent


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


def session_streams(account: User) -> QuerySet[Stream]:
    """Those of the account's sessions and replies: not its own one."""
    return Stream.objects.filter(account=account).exclude(kind=USER_STREAM)


def append_user_events(account: User, *data: Any) -> None:
    """Events with these data in the account's own stream."""
    with transaction.atomic():
        services.append_to_user(
            user_id=account.pk,
            events=[NewEvent("conversation.updated", {"value": value}) for value in data],
        )


def user_events(account: User) -> list[tuple[str, Any]]:
    """The types and the data of all events in the account's own stream."""
    log = Event.objects.filter(stream=account.pk).order_by("seq")
    return [(event.type, json.loads(event.data)) for event in log]
