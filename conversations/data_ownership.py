"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Owned
from conversations.models import Attachment, Conversation, Feedback, Message, Share, Space
from conversations.services.authors import erase_author
from conversations.services.erasing import cancel_replies, erase_attachments
from conversations.services.told_events import erase_from_events

OWNED = (
    Owned(
        Conversation,
        owners=("account",),
        exported="id space_id title title_source model system leaf_id pinned messages_count"
        " created_at updated_at",
        left_out="account_id activity characters",
        on_deletion=Delete(),
    ),
    Owned(
        Message,
        owners=("conversation__account", "author_id"),
        exported="id conversation_id author_id parent_id role content reasoning model"
        " reasoning_effort status finish_reason error context client_id created_at ended_at",
        left_out="account_id",
        on_deletion=Delete(
            owners=("conversation__account",), erase=cancel_replies, rewrite=erase_author
        ),
    ),
    # After the messages, whose rewriting takes words of the user out of titles that are told again.
    Owned(
        Space,
        owners=("account",),
        exported="id name instructions shared created_at updated_at",
        left_out="account_id",
        on_deletion=Delete(rewrite=erase_from_events),
    ),
    Owned(
        Feedback,
        owners=("account",),
        exported="message_id rating comment created_at updated_at",
        left_out="account_id",
        on_deletion=Delete(),
    ),
    Owned(
        Attachment,
        # Of a conversation, and of a file in a conversation of somebody else.
        owners=("message__conversation__account", "upload__account"),
        exported="id message_id upload_id",
        on_deletion=Delete(erase=erase_attachments),
    ),
    Owned(
        Share,
        owners=("conversation__account",),
        # The id is the secret of the link to it.
        exported="conversation_id snapshot created_at updated_at",
        left_out="id",
        on_deletion=Delete(),
    ),
)
