"""The channels of the AsyncAPI document: sockets, and replies over HTTP."""

from typing import Any, Final, NamedTuple

from accounts.errors import InvalidToken
from apidocs.examples.story import AT
from common.errors import NotFound, ServiceUnavailable, ValidationFailed
from council.types import STREAM as COUNCIL
from events.consumer import MAX_TEXT
from events.cursors import MAX_SEQ
from events.errors import (
    INTERNAL_ERROR,
    MESSAGE_TOO_BIG,
    SERVICE_RESTART,
    UNSUPPORTED_DATA,
    EventsPurged,
    close_code,
)
from events.types import USER_STREAM
from projects.types import STREAM as PROJECT
from server.connections.websocket import TOO_MANY_FRAMES

_ID_PARAMETERS: Final = {"session_id": {"description": "A UUID."}}
_QUERY: Final = {
    "type": "object",
    "properties": {
        "token": {
            "type": "string",
            "description": "The access token, where no `Authorization: Bearer` is sent.",
        },
        "after_seq": {
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_SEQ,
            "description": "Begin after the event of this `seq`. Without it the socket delivers "
            "what is committed from its opening on.",
        },
    },
}
_CLOSE_CODES: Final = {
    close_code(
        InvalidToken
    ): "The token is missing, broken, expired or revoked, or its session has "
    "ended: refresh the token and connect again.",
    close_code(
        NotFound
    ): "There is no such session, it is not yours, or it has been deleted; or the "
    "account is suspended.",
    close_code(ValidationFailed): "`after_seq` is not a number from 0 on.",
    TOO_MANY_FRAMES: "Too many sockets of one user, or too many frames: connect later, send less.",
    UNSUPPORTED_DATA: "A binary frame was sent.",
    MESSAGE_TOO_BIG: "A frame was sent that is too long.",
    INTERNAL_ERROR: "A fault of the service: connect again with `after_seq`.",
    SERVICE_RESTART: "The service restarts: connect again with `after_seq`.",
    close_code(ServiceUnavailable): "The service is full, or its database is away: connect again "
    "after a moment.",
}

PING_NAME: Final = "ping"
PING: Final = {
    "name": "ping",
    "summary": "Comes about every 20 seconds. It is no event and has no `seq`. It may be answered.",
    "payload": {
        "type": "object",
        "properties": {
            "type": {"const": "ping"},
            "ts": {"type": "string", "format": "date-time"},
        },
        "required": ["type", "ts"],
    },
    "examples": [{"payload": {"type": "ping", "ts": AT}}],
}
ANSWER_NAME: Final = "answer"
ANSWER: Final = {
    "name": "answer",
    "summary": "Any text. It is ignored.",
    "contentType": "text/plain",
    "payload": {"type": "string", "maxLength": MAX_TEXT},
    "examples": [{"payload": "pong"}],
}

SECURITY_SCHEMES: Final = {
    "accessToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "accessTokenInQuery": {"type": "httpApiKey", "name": "token", "in": "query"},
}


class Socket(NamedTuple):
    """A channel of a socket."""

    address: str
    title: str
    description: str
    parameters: dict[str, Any] = _ID_PARAMETERS
    query: dict[str, Any] = _QUERY
    close_codes: dict[int, str] = _CLOSE_CODES


class Replies(NamedTuple):
    """A channel of server-sent events: what a request of that method is answered with."""

    address: str
    method: str
    title: str
    description: str
    parameters: dict[str, Any]


# By the kind of their streams.
SOCKETS: Final = {
    COUNCIL: Socket(
        "/api/council/ws/{session_id}",
        "The events of a council.",
        "All that happens in one council. `session_id` is the council's.",
    ),
    PROJECT: Socket(
        "/api/project/ws/{session_id}",
        "The events of a project run.",
        "All that happens in one run. `session_id` is the run's.",
    ),
    USER_STREAM: Socket(
        "/api/ws",
        "The events of the signed-in user.",
        "What changes in the lists of the signed-in user. `session_id` of its events is the user's "
        "id. Events are kept for 7 days, the newest 10,000 of them.",
        {},
        close_codes={
            **_CLOSE_CODES,
            close_code(EventsPurged): "Events after this `after_seq` are deleted: load the lists "
            "again, and begin with `X-Next-Seq` of `GET /api/events`.",
        },
    ),
}

_CONVERSATION: Final = {"conversation_id": {"description": "A UUID."}}
_MESSAGE: Final = {**_CONVERSATION, "message_id": {"description": "Our id of a message, or yours."}}
_RESUMED: Final = (
    "From its beginning, or from after the place in `Last-Event-ID`. 204: nothing runs."
)

REPLIES: Final = {
    "reply": Replies(
        "/api/conversations/{conversation_id}/messages",
        "POST",
        "The reply to a message that is sent.",
        "Unless `stream` of the body is false.",
        _CONVERSATION,
    ),
    "regeneratedReply": Replies(
        "/api/conversations/{conversation_id}/messages/{message_id}/regenerate",
        "POST",
        "Another reply to a message that was sent before.",
        "Unless `stream` of the body is false.",
        _MESSAGE,
    ),
    "runningReply": Replies(
        "/api/conversations/{conversation_id}/stream",
        "GET",
        "The reply that runs in a conversation.",
        _RESUMED,
        _CONVERSATION,
    ),
    "runningReplyToMessage": Replies(
        "/api/conversations/{conversation_id}/messages/{message_id}/stream",
        "GET",
        "That reply, if it runs.",
        _RESUMED,
        _MESSAGE,
    ),
}
