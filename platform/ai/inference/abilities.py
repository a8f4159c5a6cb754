"""Checks, before anything is held, that a model can do what a call asks for."""

from ai.catalog.types import Model
from ai.inference.errors import UnsupportedParameter
from ai.inference.types import ChatCall
from ai.providers.errors import Unsupported
from ai.providers.types import ChatWire


def check_abilities(call: ChatCall, wire: ChatWire | None) -> None:
    """Raise UnsupportedParameter where the model, or the interface of its provider, cannot do what
    the call asks for."""
    model = call.model
    if call.tools and not model.tools:
        raise _refused(f"{model.display_name} calls no tools.", "tools")
    if call.output and not model.tools:
        raise _refused(f"{model.display_name} follows no schema.", "response_format")
    if not model.tools and any(message.tool_calls for message in call.messages):
        raise _refused(f"{model.display_name} calls no tools.", "messages")
    for index, message in enumerate(call.messages):
        if message.parts:
            check_vision(model, f"messages[{index}]")
    # A call of text alone is taken by all.
    if wire is not None and _goes_beyond_text(call):
        try:
            wire.check(call.request)
        except Unsupported as error:
            reason = f"{error} Or choose another model."
            raise UnsupportedParameter(reason, param=error.param) from None


def check_vision(model: Model, param: str) -> None:
    """Raise UnsupportedParameter where the model cannot see the pictures at `param`."""
    if not model.vision:
        raise _refused(f"{model.display_name} sees no pictures.", param)


def _goes_beyond_text(call: ChatCall) -> bool:
    featured = call.tools is not None or call.output is not None
    return featured or any(turn.parts or turn.tool_calls for turn in call.messages)


def _refused(message: str, param: str) -> UnsupportedParameter:
    return UnsupportedParameter(f"{message} Choose another model.", param=param)
