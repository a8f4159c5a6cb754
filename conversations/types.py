"""The limits of conversations."""

# The kind of a reply's event stream, and of its job.
STREAM = "reply"
JOB = "conversations.reply"

# The form of a client's id for a message: a UUID, or an id of the AI SDK.
MIN_CLIENT_ID = 16
MAX_CLIENT_ID = 64
# In the place of what a user wrote whose data was deleted, in conversations of others.
DELETED = "(deleted)"
MESSAGE_ID = f"[A-Za-z0-9_-]{{{MIN_CLIENT_ID},{MAX_CLIENT_ID}}}"
MESSAGE_ID_SCHEMA = {
    "type": "string",
    "minLength": MIN_CLIENT_ID,
    "maxLength": MAX_CLIENT_ID,
    "pattern": f"^{MESSAGE_ID}$",
}

MAX_CONTENT = 100_000  # characters of a message
MAX_SYSTEM = 20_000
MAX_INSTRUCTIONS = 20_000  # of a space
MAX_TITLE = 200
MAX_NAME = 100  # of a space
MAX_COMMENT = 2_000  # on a reply
MAX_DELETED = 100  # conversations that one request deletes
MAX_ATTACHMENTS = 10  # of a message
MAX_QUERY = 200  # what is searched for
MAX_WORDS = 32  # in it
SEARCH_SECONDS = 5.0  # of each of its queries
MAX_SPACES = 200
MAX_CONVERSATIONS = 20_000  # of an account
MAX_CONVERSATIONS_PER_DAY = 1_000  # that it may begin within 24 hours, of those it still has
# Of one conversation, all branches together: the detail contains them all.
MAX_MESSAGES = 5_000
MAX_CHARACTERS = 5_000_000
