"""The socket of a stream: who may open it, and how it treats its client's messages."""

from typing import Any, ClassVar
from urllib.parse import parse_qsl
from uuid import UUID

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from accounts import tokens
from accounts.tokens import AccessClaims
from common import request_line
from common.errors import DomainError, NotFound, Unauthenticated
from events.cursors import read_after_seq
from events.errors import MESSAGE_TOO_BIG, UNSUPPORTED_DATA, close_code
from events.hub import get_hub
from events.subscribers import Socket, Subscriber
from events.types import USER_STREAM, Place
from server.asgi import Receive, Scope, Send

# Clients only answer pings.
MAX_TEXT = 4096


class StreamConsumer(AsyncWebsocketConsumer):
    """Sends the events of one stream of `kind`, from the acceptance on, or after `?after_seq=`. The
    last segment of its path is the stream's id, unless a subclass chooses another stream.

    A refused socket is accepted and then closed with a code: before that, a code would not reach
    the client. The origin is not checked: clients authenticate by a token, not by a cookie.
    """

    kind: ClassVar[str]

    _subscriber: Subscriber | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        try:
            await super().__call__(scope, receive, send)  # type: ignore[arg-type]
        finally:
            if self._subscriber is not None:
                get_hub().leave(self._subscriber)

    async def dispatch(self, message: Any) -> None:
        """Channels' own dispatch starts a thread for each message, for Django's connections; none
        is used here."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        try:
            self._subscriber = await self._follow()
        except DomainError as error:
            request_line.current().note(error)
            await self.accept()
            await self.close(close_code(error), error.code)
        else:
            await self.accept()
            self._subscriber.open()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Text is ignored: clients may answer a ping."""
        if self._subscriber is None:
            return
        if text_data is None:
            self._subscriber.end(UNSUPPORTED_DATA)
        elif len(text_data) > MAX_TEXT:
            self._subscriber.end(MESSAGE_TOO_BIG)

    async def websocket_disconnect(self, message: Any) -> None:
        raise StopConsumer

    async def _follow(self) -> Subscriber:
        """The last seq is read before the stream is followed: every later event is delivered, and a
        replay after the acceptance leaves no gap."""
        text = self.scope["query_string"].decode("latin-1")
        query = dict(parse_qsl(text, keep_blank_values=True))
        claims = tokens.read_access(self._token(query))
        after_seq = read_after_seq(query.get("after_seq"))
        stream_id = self._stream_id(claims)
        hub = get_hub()
        head = await hub.find_head(claims, self.kind, stream_id, after_seq)
        request_line.current().account_id = claims.user_id
        place = Place(stream_id, head if after_seq is None else after_seq)
        return hub.follow(place, head, claims, Socket(self.send, self.close))

    def _token(self, query: dict[str, str]) -> str:
        """The token of the header, or else of the query, because browsers' sockets have no
        headers."""
        for name, value in self.scope["headers"]:
            scheme, _, token = value.partition(b" ")
            if name == b"authorization" and scheme.lower() == b"bearer":
                return str(token.strip().decode("latin-1"))
        if "token" not in query:
            raise Unauthenticated
        return query["token"]

    def _stream_id(self, claims: AccessClaims) -> UUID:
        try:
            return UUID(self.scope["path"].rpartition("/")[2])
        except ValueError:
            raise NotFound from None


class UserConsumer(StreamConsumer):
    """The socket of the signed-in user's own stream."""

    kind = USER_STREAM

    def _stream_id(self, claims: AccessClaims) -> UUID:
        return claims.user_id
