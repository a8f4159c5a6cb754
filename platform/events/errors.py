"""The reasons for which a socket is refused or ended, with their close codes; and those for which
a message is refused."""

from common.errors import Conflict, DomainError, ServiceUnavailable, TooManyRequests

# WebSocket close codes (RFC 6455, section 7.4; 4000 to 4999 are an application's own).
UNSUPPORTED_DATA = 1003
MESSAGE_TOO_BIG = 1009
INTERNAL_ERROR = 1011
SERVICE_RESTART = 1012

_BY_STATUS = {401: 4401, 403: 4403, 404: 4403, 410: 4410, 422: 4422, 429: 4429, 503: 1013}


class EventsPurged(DomainError):
    """`next_seq` is the number of the last event: a client that has reloaded continues there."""

    code, status = "events_purged", 410
    message = (
        "Some events after this `after_seq` are deleted. Reload the lists, then continue with "
        "`next_seq`."
    )


class TooManySockets(TooManyRequests):
    message = "Too many sockets and streams of this account are open. Close some of them."

    def __init__(self) -> None:
        super().__init__(retry_after=5)


class InboxClosed(Conflict):
    message = "This has ended and takes no more messages."


class InboxFull(Conflict):
    message = "Too many messages wait to be read. Try again when some of them are delivered."


class Restarting(ServiceUnavailable):
    """The client may connect again: another process serves it."""


def close_code(error: DomainError | type[DomainError]) -> int:
    """The close code of an error. A foreign stream, a missing one and a suspended account have the
    same code."""
    kind = error if isinstance(error, type) else type(error)
    return SERVICE_RESTART if issubclass(kind, Restarting) else _BY_STATUS[kind.status]
