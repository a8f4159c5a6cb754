"""Checks, before anything is held, that a model can do what a call asks for."""

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
    if not model.vision:
        for index, message in enumerate(call.messages):
            if message.images:
                raise _refused(f"{model.display_name} sees no pictures.", f"messages[{index}]")
    if wire is not None:
        try:
            wire.check(call.request)
        except Unsupported as error:
            raise _refused(str(error), error.param) from None


def _refused(message: str, param: str) -> UnsupportedParameter:
    return UnsupportedParameter(f"{message} Choose another model.", param=param)
