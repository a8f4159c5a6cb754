"""What an OpenAI-compatible provider cannot do, told before it is asked."""

from ai.providers.config import Flags
from ai.providers.errors import Unsupported
from ai.providers.types import ChatRequest, Tools


def check_request(request: ChatRequest, flags: Flags) -> None:
    """Raise Unsupported where the provider does not take a parameter of the request."""
    if request.tools:
        _check_tools(request.tools, flags)
        if is_forced(request.tools):
            _check_choice(request, request.tools, flags)
    output = request.output
    if output and output.strict and not flags.enforces_schemas:
        raise Unsupported(
            "The model's provider does not enforce schemas: leave out `strict`.",
            param="response_format.json_schema.strict",
        )
    if output and request.tools and not flags.takes_tools_with_output:
        raise Unsupported(
            "The model's provider does not take tools together with a form of the answer.",
            param="response_format",
        )
    for index, message in enumerate(request.messages):
        for image in message.images if message.parts else ():
            if image.media_type not in flags.picture_types:
                raise Unsupported(
                    f"The model's provider takes no pictures of the type {image.media_type}.",
                    param=f"messages[{index}]",
                )


def is_forced(tools: Tools) -> bool:
    """Must the model call a tool?"""
    return tools.choice in ("required", "named")


def _check_tools(tools: Tools, flags: Flags) -> None:
    for index, tool in enumerate(tools.functions):
        if tool.strict and not flags.strict_tools:
            raise Unsupported(
                "The model's provider does not enforce the schemas of tools: leave out `strict`.",
                param=f"tools[{index}].function.strict",
            )


def _check_choice(request: ChatRequest, tools: Tools, flags: Flags) -> None:
    # Where there is one function alone, to require a call and to name the function are the same.
    same = {"required", "named"} if len(tools.functions) == 1 else {tools.choice}
    if not same & flags.tool_choices:
        raise Unsupported(
            "The model's provider lets the model decide whether it calls a tool, and which one.",
            param="tool_choice",
        )
    if request.reasoning_effort and not flags.forces_while_reasoning:
        raise Unsupported(
            "The model's provider forces no call of a tool while the model reasons: leave out"
            " `reasoning_effort`, or choose `auto`.",
            param="tool_choice",
        )
