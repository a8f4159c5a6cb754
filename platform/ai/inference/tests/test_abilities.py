"""What a model, or its provider's interface, cannot do is refused before anything is held."""

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from ai.catalog.selectors import get_catalog
from ai.inference.abilities import check_abilities
from ai.inference.errors import UnsupportedParameter
from ai.inference.types import ChatCall
from ai.providers.config import from_environ
from ai.providers.registry import aclose, get_chat_wire
from ai.providers.types import InputImage, JsonOutput, Message, Tool, Tools
from common.ids import uuid7

pytestmark = pytest.mark.django_db

ASKED = Message("user", "Hello.")
ANIMATED = Message("user", "What is this?", ("What is this?", InputImage(b"", "image/gif", 8, 8)))


@pytest.mark.parametrize(
    ("model", "given", "param"),
    [
        ("grok-4.7", {"messages": (ASKED, ANIMATED)}, "messages[1]"),
        ("deepseek-v4-pro", {"messages": (ANIMATED,)}, "messages[0]"),
        ("gpt-6-luna", {"messages": (ANIMATED,)}, None),
        (
            "deepseek-v4-pro",
            {"output": JsonOutput({"type": "object"}, strict=True)},
            "response_format.json_schema.strict",
        ),
        ("deepseek-v4-pro", {"output": JsonOutput({"type": "object"})}, None),
        (
            "kimi-k3",
            {"tools": Tools((Tool("add"), Tool("divide")), "named", "add")},
            "tool_choice",
        ),
    ],
)
def test_a_call_is_refused_where_its_provider_cannot_carry_it_out(
    settings: Settings, model: str, given: dict[str, object], param: str | None
) -> None:
    found = get_catalog().models[model]
    environ = {f"{found.provider.upper()}_API_KEY": "k"}
    settings.PROVIDERS = from_environ(environ, simulated=frozenset(), simulator_url="")
    call = ChatCall(
        account_id=uuid7(),
        api_key_id=None,
        source="api",
        request_id="req_test",
        model=found,
        **({"messages": (ASKED,)} | given),  # type: ignore[arg-type]
    )
    wire = get_chat_wire(found.provider)
    async_to_sync(aclose)()
    if param is None:
        check_abilities(call, wire)
        return
    with pytest.raises(UnsupportedParameter) as refusal:
        check_abilities(call, wire)
    assert refusal.value.extra == {"param": param}
