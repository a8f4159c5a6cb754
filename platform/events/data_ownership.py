"""What accounts own of this app (`common.ownership`)."""

from django.db.models import Q

from common.ownership import Anonymise, Cascade, Delete, Owned
from events.models import Event, Inbox, InboxMessage, Stream
from events.types import USER_STREAM

OWNED = (
    Owned(
        Stream,
        owners=("account",),
        exported="id kind last_seq purged_seq",
        left_out="account_id",
        # Each user has one, and operators' acts write to it.
        on_deletion=Delete(unless=Q(kind=USER_STREAM)),
    ),
    Owned(
        Event,
        owners=("stream__account",),
        exported="stream_id seq type actor created_at data",
        on_deletion=Delete(),
    ),
    Owned(
        Inbox,
        owners=("stream__account",),
        exported="stream_id is_open last_number read_number",
        on_deletion=Cascade(),
    ),
    Owned(
        InboxMessage,
        owners=("inbox__stream__account", "sender"),
        exported="inbox_id number body created_at",
        left_out="sender_id",
        # One that was sent to a stream of somebody else stays there without its text.
        on_deletion=Anonymise({"sender_id": None, "body": ""}),
    ),
)
