"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Owned
from council.models import Card, Generation, Message, Session, Turn, Version

OWNED = (
    Owned(
        Session,
        owners=("account",),
        exported="id title prompt system status activity round rounds created_at",
        left_out="account_id",
        on_deletion=Delete(),
    ),
    Owned(
        Turn,
        owners=("session__account",),
        exported="id session_id kind status params round created_at stopped_at ended_at",
        left_out="request_id",
        on_deletion=Delete(),
    ),
    Owned(
        Card,
        owners=("session__account",),
        exported="id session_id kind prompt current_id created_at removed_at",
        on_deletion=Delete(),
    ),
    Owned(
        Message,
        owners=("session__account",),
        exported="id session_id turn_id card_id content created_at",
        on_deletion=Delete(),
    ),
    Owned(
        Generation,
        owners=("session__account",),
        exported="id session_id card_id turn_id model status content finish_reason error first_seq"
        " created_at ended_at",
        on_deletion=Delete(),
    ),
    Owned(
        Version,
        owners=("card__session__account",),
        exported="id card_id number source generation_id parent_id message_id revises_id"
        " restored_from instructions details created_at",
        on_deletion=Delete(),
    ),
)
