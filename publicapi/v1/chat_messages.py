"""The messages of a chat request: those that go upstream, within the limits."""

from msgspec import Struct

from accounts.features import KeyFeature
from ai.providers.types import Message, Role
from common.titles import shows_something
from publicapi.v1.chat_body import MAX_CHARACTERS, MAX_MESSAGES, MESSAGE_ROLES, ChatMessage
from publicapi.v1.chat_pictures import Parts, read_parts
from publicapi.v1.chat_tools import OpenCalls, read_call_of_result, read_calls
from publicapi.v1.errors import InputTooLong, InvalidBody, InvalidMessages

UPSTREAM_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_ROLES_WITH_TOOLS: dict[str, Role] = {**UPSTREAM_ROLES, "tool": "tool"}


class Conversation(Struct, frozen=True):
    """The messages for upstream, and the parts of those that have pictures, by their index."""

    messages: tuple[Message, ...]
    shown: dict[int, Parts]


def read_messages(
    sent: list[ChatMessage], features: frozenset[KeyFeature], characters: int
) -> Conversation:
    """The turns with text, and what the features of the key add: tool calls, their results, and
    pictures. `characters` is what the rest of the request counts to the limit. Raises InvalidBody,
    InvalidMessages or InputTooLong."""
    if len(sent) > MAX_MESSAGES:
        raise InvalidMessages(
            f"A request may hold at most {MAX_MESSAGES} messages; this one has {len(sent)}. "
            "Drop or summarise the oldest turns."
        )
    messages: list[Message] = []
    more = _Featured(features) if features else None
    for index, message in enumerate(sent):
        if message.role not in MESSAGE_ROLES:
            raise InvalidBody(
                "A message's `role` must be `system`, `developer`, `user`, `assistant` or `tool`.",
                param=f"messages[{index}].role",
            )
        text = message.text
        characters += len(text)
        if characters > MAX_CHARACTERS:
            raise InputTooLong
        if "\0" in text:
            raise InvalidBody(
                "A message holds a NUL character; remove it.", param=f"messages[{index}].content"
            )
        role = UPSTREAM_ROLES.get(message.role)
        if more is not None:
            turn = more.turn(message, text, len(messages), f"messages[{index}]")
            characters += _beside_text(turn) if turn else 0
        else:
            turn = Message(role, text) if role and text else None
        if turn:
            messages.append(turn)
    if characters > MAX_CHARACTERS:
        raise InputTooLong
    if more is not None:
        more.end()
    shown = more.shown if more else {}
    _check_user(messages, shown)
    return Conversation(tuple(messages), shown)


def roles_that_show(features: frozenset[KeyFeature]) -> frozenset[str]:
    """The roles whose messages may show pictures."""
    if "vision" not in features:
        return frozenset()
    return frozenset({"user", "tool"} if "tools" in features else {"user"})


class _Featured:
    """Reads what a key with features may send beside text. `shown` is as in Conversation."""

    def __init__(self, features: frozenset[KeyFeature]) -> None:
        self._roles = _ROLES_WITH_TOOLS if "tools" in features else UPSTREAM_ROLES
        self._has_tools = "tools" in features
        self._shows = roles_that_show(features)
        self._calls = OpenCalls()
        self.shown: dict[int, Parts] = {}

    def turn(self, message: ChatMessage, text: str, index: int, place: str) -> Message | None:
        """The message at `place` as it goes upstream, as the one at `index`; None where it is left
        out."""
        role = self._roles.get(message.role)
        if role is None:
            return None
        content = message.content
        parts: Parts = ()
        if isinstance(content, list) and message.role in self._shows:
            parts = read_parts(content, f"{place}.content")
        turn = self._turn(role, message, text, place)
        if not (text or parts or turn.tool_calls or turn.tool_call_id):
            return None
        if role != "tool":
            self._calls.ask(turn.tool_calls, f"{place}.tool_calls")
        if parts:
            self.shown[index] = parts
        return turn

    def _turn(self, role: Role, message: ChatMessage, text: str, place: str) -> Message:
        if role == "tool":
            param = f"{place}.tool_call_id"
            call_id = read_call_of_result(message.tool_call_id, param)
            self._calls.answer(call_id, param)
            return Message(role, text, tool_call_id=call_id)
        if role == "assistant" and self._has_tools:
            calls = read_calls(message.tool_calls, f"{place}.tool_calls")
            return Message(role, text, tool_calls=calls)
        return Message(role, text)

    def end(self) -> None:
        """The conversation ends here. Raises InvalidBody."""
        self._calls.close()


def _beside_text(turn: Message) -> int:
    """The characters of a turn's calls, or of the id of the call that it is the result of."""
    calls = sum(len(call.id) + len(call.name) + len(call.arguments) for call in turn.tool_calls)
    return calls + len(turn.tool_call_id)


def _check_user(messages: list[Message], shown: dict[int, Parts]) -> None:
    """The user has to have said, or shown, something."""
    for index, message in enumerate(messages):
        if message.role == "user" and (index in shown or shows_something(message.text)):
            return
    raise InvalidMessages
