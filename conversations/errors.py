"""The errors of conversations."""

from common.errors import (
    Conflict,
    DomainError,
    Forbidden,
    NotFound,
    ServiceUnavailable,
    ValidationFailed,
)
from conversations.types import (
    MAX_CHARACTERS,
    MAX_CONVERSATIONS,
    MAX_CONVERSATIONS_PER_DAY,
    MAX_MESSAGES,
    MAX_SPACES,
)


class MessageNotFound(NotFound):
    """A message that the body names; one in the path is a plain 404."""

    message = "This conversation has no message of that `parent_id`."


class MessageExists(Conflict):
    """Another message has this id."""

    code = "message_exists"
    message = (
        "This conversation has another message of that `id`. Send this message, or one that you "
        "have edited, with a new `id`."
    )


class ReplyDeleted(NotFound):
    """The answer to a repeated request whose reply was deleted."""

    code = "reply_deleted"
    message = (
        "The reply to this request has been deleted. To get a new one, regenerate the message, or "
        "send it with another `id` or Idempotency-Key."
    )


class SpaceNotFound(NotFound):
    """A space that the body or the query names."""

    message = "You have no space of that `space_id`."


class ReadOnly(Forbidden):
    """A member of the team writes in a space that is shared to be read."""

    code = "read_only"
    message = "This is shared with you to read. Its owner can open the space to be written in, too."


class OwnerOnly(Forbidden):
    """A member of the team asks for what only the owner of a shared space does."""

    code = "owner_only"
    message = "This is shared with you by another member of your team. Only its owner may do this."


class NothingToShareWith(Conflict):
    code = "no_team"
    message = "A space is shared with your team, and you are in none. Create or join one first."


class TooManySpaces(Conflict):
    code = "too_many_spaces"
    message = f"You have {MAX_SPACES} spaces, which is all you may. Delete one first."


class TooManyConversations(Conflict):
    code = "too_many_conversations"
    message = f"You have {MAX_CONVERSATIONS:,} conversations, which is all you may. Delete some."


class TooManyNewConversations(DomainError):
    code, status = "too_many_new_conversations", 429
    message = (
        f"You have begun {MAX_CONVERSATIONS_PER_DAY:,} conversations within 24 hours. Wait for "
        "Retry-After seconds, or go on in one of them."
    )


class ReplyRunning(Conflict):
    """Each conversation has one running reply at a time. Also raised where the shown branch has
    newer messages."""

    code = "reply_running"
    message = (
        "A reply is still being written here, or newer messages are shown. Wait until it has "
        "ended, or stop it, and load the conversation again."
    )


class ConversationFull(Conflict):
    code = "conversation_full"
    message = (
        f"A conversation has at most {MAX_MESSAGES:,} messages and {MAX_CHARACTERS:,} characters, "
        "all branches together. Begin a new one."
    )


class SearchTooSlow(ServiceUnavailable):
    message = "This search took too long. Try again in a moment, or look for longer words."


class SharingOff(Forbidden):
    """Operators have switched public links off (`content.flags.PUBLIC_SHARING`)."""

    code = "sharing_off"
    message = "Conversations cannot be shared by a link at the moment."


class NothingToShare(Conflict):
    code = "nothing_to_share"
    message = "There is no finished message in this conversation yet. Send one, then share it."


class MessageTooLong(ValidationFailed):
    """A message that does not fit into its model's window, even without earlier messages."""

    code = "input_too_long"
    message = "The message is longer than this model can read."

    @classmethod
    def of_length(
        cls,
        *,
        length: int,
        limit: int,
        unit: str,
        model: str,
        largest: tuple[str, int] | None,
        by_plan: bool,
    ) -> "MessageTooLong":
        """The error of a message of that length in tokens or characters (`unit`), with instructions
        and files. `largest` is its largest file: its name, and its size in bytes. `by_plan`: the
        plan sets the limit, not the model."""
        problem = (
            f"With its files and instructions this is about {length:,} {unit} long, and {model} "
            f"can be given {limit:,}"
        )
        problem += " on the free plan; other plans allow more." if by_plan else "."
        if largest is not None:
            name, size = largest
            problem += f" The largest file is “{name}”, of {size:,} bytes."
        field = "content" if largest is None else "upload_ids"
        return cls(
            problem,
            errors=[{"loc": [field], "msg": problem}],
            length=length,
            limit=limit,
            unit=unit,
            limited_by="plan" if by_plan else "model",
            largest_file=None if largest is None else largest[0],
        )
