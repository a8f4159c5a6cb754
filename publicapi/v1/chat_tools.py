"""Tools in a chat request: the functions that a model may ask for, its calls, and their results."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ai.providers.call_ids import MAX_ID, own_id
from ai.providers.types import Tool, ToolCall, ToolChoice, Tools
from publicapi.v1.bodies import decode_field
from publicapi.v1.chat_body import ChatBody, Unread
from publicapi.v1.definitions import MAX_SCHEMA_BYTES, Name, check_name, check_text, read_schema
from publicapi.v1.errors import InvalidBody
from publicapi.v1.model_access import shown

MAX_TOOLS = 128
MAX_CALLS = 128  # of one message


class SentFunction(Struct):
    """`parameters` is the JSON Schema of the arguments, an object; absent where there are none.
    `strict`: the arguments have to match it."""

    name: Name
    description: str | None = None
    parameters: Annotated[
        Unread,
        Meta(
            description=f"At most {MAX_SCHEMA_BYTES:,} bytes.",
            extra_json_schema={"type": ["object", "null"]},
        ),
    ] = UNSET
    strict: bool | None = None


class SentTool(Struct):
    """A tool that the model may ask for: a function."""

    type: Annotated[str, Meta(extra_json_schema={"const": "function"})]
    function: SentFunction | UnsetType = UNSET


class NamedFunction(Struct):
    """The name of one of the request's tools."""

    name: str


class SentToolChoice(Struct):
    """The function that the model has to ask for."""

    type: Annotated[str, Meta(extra_json_schema={"const": "function"})]
    function: NamedFunction


class CalledFunction(Struct):
    """The name of a function and its arguments, which are JSON as the model wrote it."""

    name: Name
    arguments: str


class SentToolCall(Struct):
    """A call that the model asked for in an earlier turn."""

    id: str
    function: CalledFunction
    type: Annotated[str, Meta(extra_json_schema={"const": "function"})] = "function"


_CHOICES: dict[str, ToolChoice] = {"auto": "auto", "none": "none", "required": "required"}

_tools = msgspec.json.Decoder(list[SentTool] | None)
_choice = msgspec.json.Decoder(str | SentToolChoice | None)
_flag = msgspec.json.Decoder(bool | None)
_calls = msgspec.json.Decoder(list[SentToolCall] | None)
_id: msgspec.json.Decoder[str | None] = msgspec.json.Decoder(str | None)


def read_tools(body: ChatBody) -> Tools | None:
    """The tools of a request; None where it has none. Raises InvalidBody."""
    sent = None if body.tools is UNSET else decode_field(_tools, body.tools, "tools")
    functions = _functions(sent or [])
    choice, named = _read_choice(body.tool_choice, {function.name for function in functions})
    parallel = body.parallel_tool_calls
    is_parallel = parallel is UNSET or decode_field(_flag, parallel, "parallel_tool_calls")
    return Tools(functions, choice, named, is_parallel is not False) if functions else None


def _functions(sent: list[SentTool]) -> tuple[Tool, ...]:
    if len(sent) > MAX_TOOLS:
        raise InvalidBody(
            f"A request may have {MAX_TOOLS} tools; this one has {len(sent)}.", param="tools"
        )
    functions: dict[str, Tool] = {}
    for index, tool in enumerate(sent):
        place = f"tools[{index}]"
        _check_type(tool.type, f"{place}.type")
        if tool.function is UNSET:
            raise InvalidBody("A tool needs its `function`.", param=f"{place}.function")
        function = _function(tool.function, f"{place}.function")
        if function.name in functions:
            raise InvalidBody(
                f"Two tools have the name `{function.name}`.", param=f"{place}.function.name"
            )
        functions[function.name] = function
    return tuple(functions.values())


def _function(sent: SentFunction, place: str) -> Tool:
    check_name(sent.name, f"{place}.name")
    description = sent.description or ""
    check_text(description, f"{place}.description")
    parameters = read_schema(sent.parameters, f"{place}.parameters")
    return Tool(sent.name, description, parameters, bool(sent.strict))


def _read_choice(sent: Unread, names: set[str]) -> tuple[ToolChoice, str]:
    choice = None if sent is UNSET else decode_field(_choice, sent, "tool_choice")
    if choice is None:
        return "auto", ""
    if isinstance(choice, str):
        if choice not in _CHOICES:
            raise InvalidBody(
                "`tool_choice` must be `auto`, `none` or `required`, or name a function: "
                '`{"type": "function", "function": {"name": "..."}}`.',
                param="tool_choice",
            )
        if choice == "required" and not names:
            raise InvalidBody("A tool is required, and there are no `tools`.", param="tool_choice")
        return _CHOICES[choice], ""
    _check_type(choice.type, "tool_choice.type")
    if choice.function.name not in names:
        raise InvalidBody(
            f"No tool has the name `{shown(choice.function.name)}`.",
            param="tool_choice.function.name",
        )
    return "named", choice.function.name


# --- Calls and their results --------------------------------------------------------------------


def read_calls(sent: Unread, place: str) -> tuple[ToolCall, ...]:
    """The calls that the model asked for in a turn, whose `tool_calls` are at `place`. Arguments
    are passed on as they are, also where they are no JSON. Raises InvalidBody."""
    calls = None if sent is UNSET else decode_field(_calls, sent, place)
    if not calls:
        return ()
    if len(calls) > MAX_CALLS:
        raise InvalidBody(
            f"A message may have {MAX_CALLS} tool calls; this one has {len(calls)}.", param=place
        )
    return tuple(_call(call, f"{place}[{index}]") for index, call in enumerate(calls))


def _call(sent: SentToolCall, place: str) -> ToolCall:
    _check_type(sent.type, f"{place}.type")
    _check_id(sent.id, f"{place}.id")
    check_name(sent.function.name, f"{place}.function.name")
    check_text(sent.function.arguments, f"{place}.function.arguments")
    return ToolCall(sent.id, sent.function.name, sent.function.arguments)


def read_call_of_result(sent: Unread, place: str) -> str:
    """The id of the call that a message of role `tool` is the result of. Raises InvalidBody."""
    call_id = None if sent is UNSET else decode_field(_id, sent, place)
    if not call_id:
        raise InvalidBody("A message of role `tool` needs the `tool_call_id`.", param=place)
    return call_id


class OpenCalls:
    """The calls of the latest turn that have no result yet, by their ids, with their places. A
    provider refuses a conversation in which calls and results do not match."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}

    def ask(self, calls: tuple[ToolCall, ...], place: str) -> None:
        """A turn asks for these calls; they are at `place`. Raises InvalidBody."""
        self.close()
        for index, call in enumerate(calls):
            param = f"{place}[{index}].id"
            if call.id in self._open:
                raise InvalidBody(f"Two calls have the id `{_own(call.id)}`.", param=param)
            self._open[call.id] = param

    def answer(self, call_id: str, param: str) -> None:
        """A message is the result of this call. Raises InvalidBody."""
        if self._open.pop(call_id, None) is None:
            raise InvalidBody(
                f"No call with the id `{_own(call_id)}` waits for a result here: the message must "
                "follow the turn that asked for the call.",
                param=param,
            )

    def close(self) -> None:
        """The next turn begins, or the conversation ends. Raises InvalidBody."""
        for call_id, param in self._open.items():
            raise InvalidBody(
                f"The call with the id `{_own(call_id)}` has no result: a message of role `tool` "
                "with this `tool_call_id` must follow, before the next turn.",
                param=param,
            )


def _own(call_id: str) -> str:
    """An id for a message: without the state that a provider wants back, which can be long."""
    return shown(own_id(call_id))


# --- Checks -------------------------------------------------------------------------------------


def _check_type(kind: str, param: str) -> None:
    if kind != "function":
        raise InvalidBody(
            f"Tools are functions here: the `type` must be `function`, not `{shown(kind)}`.",
            param=param,
        )


def _check_id(call_id: str, param: str) -> None:
    if not 1 <= len(call_id) <= MAX_ID:
        raise InvalidBody(f"The id of a call has 1 to {MAX_ID:,} characters.", param=param)
    check_text(call_id, param)
