"""What goes out of tools, forms of answers and pictures, to each provider in its own terms."""

import base64
import json
import re
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.providers.call_ids import with_state
from ai.providers.config import PROVIDERS, Flags
from ai.providers.errors import Unsupported
from ai.providers.instructions import ONE_CALL
from ai.providers.openai_checks import check_request
from ai.providers.openai_request import encode_request
from ai.providers.types import (
    ChatRequest,
    InputImage,
    JsonOutput,
    Message,
    Tool,
    ToolCall,
    ToolChoice,
    Tools,
)
from devserver.paths import ROOT
from tests.documents import rows, section

from .calls import request

SPOKEN = sorted(name for name, known in PROVIDERS.items() if known.wire == "openai_compatible")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "The weather of a city.", SCHEMA)
TIME = Tool("get_time")
TOOLS = Tools((WEATHER, TIME))
PICTURE = InputImage(b"\x89PNG", "image/png", 10, 20)
ASKED = Message("user", "How is the weather?")
CALLS = Message("assistant", "", tool_calls=(ToolCall("call_1", "get_weather", '{"city":"Bern"}'),))
RESULT = Message("tool", "Rain.", tool_call_id="call_1")


def flags_of(name: str) -> Flags:
    return PROVIDERS[name].flags


PLAIN = flags_of("openai")


def asking(
    *messages: Message,
    tools: Tools | None = None,
    output: JsonOutput | None = None,
    effort: str | None = None,
) -> ChatRequest:
    asked = request(*messages or (ASKED,), effort=effort)
    return msgspec.structs.replace(asked, tools=tools, output=output)


def sent(call: ChatRequest, flags: Flags = PLAIN) -> dict[str, Any]:
    body = json.loads(encode_request(call, flags, stream=True))
    assert isinstance(body, dict)
    return body


def refused(call: ChatRequest, name: str) -> str | None:
    """The parameter that the provider does not take, if it takes one not."""
    try:
        check_request(call, flags_of(name))
    except Unsupported as error:
        return error.param
    return None


def test_a_call_with_tools() -> None:
    body = sent(asking(tools=TOOLS))
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "The weather of a city.",
                "parameters": SCHEMA,
            },
        },
        {
            "type": "function",
            "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
        },
    ]
    assert not {"tool_choice", "parallel_tool_calls", "response_format"} & body.keys()


def test_a_turn_with_calls_and_its_results() -> None:
    both = (*CALLS.tool_calls, ToolCall("call_2", "get_time", "{"))
    turn = Message("assistant", "Let me see.", tool_calls=both)
    later = Message("tool", "Noon.", tool_call_id="call_2")
    _, told, first, second = sent(asking(ASKED, turn, RESULT, later, tools=TOOLS))["messages"]
    assert told == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city":"Bern"}'},
            },
            {
                "id": "call_2",
                "type": "function",
                "function": {"name": "get_time", "arguments": "{"},
            },
        ],
    }
    assert first == {"role": "tool", "tool_call_id": "call_1", "content": "Rain."}
    assert second == {"role": "tool", "tool_call_id": "call_2", "content": "Noon."}


def test_a_turn_of_calls_alone_has_no_content() -> None:
    assert sent(asking(ASKED, CALLS, RESULT))["messages"][1]["content"] is None


def chosen(choice: ToolChoice, name: str, tools: Tools = TOOLS, effort: str | None = None) -> Any:
    """What is sent for a choice; "refused" where the provider does not take it."""
    named = "get_time" if choice == "named" else ""
    call = asking(tools=msgspec.structs.replace(tools, choice=choice, named=named), effort=effort)
    if param := refused(call, name):
        assert param == "tool_choice"
        return "refused"
    body = sent(call, flags_of(name))
    return body.get("tool_choice") if "tools" in body else "no tools"


NAMED = {"type": "function", "function": {"name": "get_time"}}


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("openai", [None, "none", "required", NAMED]),
        ("xai", [None, "none", "required", NAMED]),
        ("deepseek", [None, "none", "required", NAMED]),
        ("mistral", [None, "none", "any", NAMED]),
        ("moonshot", [None, "none", "required", "refused"]),
        ("groq", [None, "none", "required", NAMED]),
        ("qwen", [None, "none", "refused", NAMED]),
        ("zai", [None, "no tools", "refused", "refused"]),
        ("openrouter", [None, "none", "required", NAMED]),
        ("together", [None, "none", "required", NAMED]),
        ("ollama", [None, "no tools", "refused", "refused"]),
        ("vllm", [None, "none", "required", NAMED]),
    ],
)
def test_each_provider_has_its_own_choices(name: str, choices: list[Any]) -> None:
    asked: list[ToolChoice] = ["auto", "none", "required", "named"]
    assert [chosen(choice, name) for choice in asked] == choices


def test_to_require_a_function_alone_and_to_name_it_are_the_same() -> None:
    assert chosen("required", "qwen", Tools((TIME,))) == NAMED
    assert chosen("named", "moonshot", Tools((TIME,))) == "required"


@pytest.mark.parametrize("name", ["deepseek", "qwen"])
def test_no_call_is_forced_while_a_model_reasons(name: str) -> None:
    assert chosen("named", name, effort="high") == "refused"
    assert chosen("auto", name, effort="high") is None


def test_deepseek_does_not_reason_where_it_has_to_call() -> None:
    def thinking(choice: ToolChoice) -> Any:
        tools = msgspec.structs.replace(TOOLS, choice=choice)
        return sent(asking(tools=tools), flags_of("deepseek")).get("thinking")

    assert thinking("required") == {"type": "disabled"}
    assert thinking("auto") is None


@pytest.mark.parametrize(
    ("name", "together", "one_by_one"),
    [
        ("openai", None, False),
        ("mistral", None, False),
        ("qwen", True, None),
        ("deepseek", None, "told in words"),
        ("moonshot", None, "told in words"),
    ],
)
def test_calls_come_together_or_one_by_one(name: str, together: Any, one_by_one: Any) -> None:
    def told(parallel: bool) -> Any:
        call = asking(tools=Tools((TIME,), parallel=parallel))
        body = sent(call, flags_of(name))
        is_told = body["messages"][0] == {"role": "system", "content": ONE_CALL}
        return "told in words" if is_told else body.get("parallel_tool_calls")

    assert (told(parallel=True), told(parallel=False)) == (together, one_by_one)


def test_a_strict_tool_is_strict_or_refused() -> None:
    strict = Tools((TIME, msgspec.structs.replace(WEATHER, strict=True)))
    assert sent(asking(tools=strict))["tools"][1]["function"]["strict"] is True
    assert refused(asking(tools=strict), "openai") is None
    assert refused(asking(tools=strict), "deepseek") == "tools[1].function.strict"


@pytest.mark.parametrize("name", SPOKEN)
def test_any_object_is_asked_for_in_the_same_words(name: str) -> None:
    call = asking(output=JsonOutput())
    assert refused(call, name) is None
    assert sent(call, flags_of(name))["response_format"] == {"type": "json_object"}


def test_a_model_is_told_to_answer_with_json_where_nobody_has() -> None:
    system, _ = sent(asking(output=JsonOutput()))["messages"]
    assert system == {"role": "system", "content": "Answer with JSON alone."}
    told = Message("system", "Reply in Json.")
    assert len(sent(asking(told, ASKED, output=JsonOutput()))["messages"]) == 2
    assert len(sent(asking(output=JsonOutput(SCHEMA)))["messages"]) == 1


@pytest.mark.parametrize("name", SPOKEN)
def test_a_strict_schema_is_enforced_or_refused(name: str) -> None:
    call = asking(output=JsonOutput(SCHEMA, "place", "A place.", strict=True))
    if name in ("deepseek", "qwen", "zai"):
        assert refused(call, name) == "response_format.json_schema.strict"
        return
    assert refused(call, name) is None
    assert sent(call, flags_of(name))["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "place",
            "schema": SCHEMA,
            "description": "A place.",
            "strict": True,
        },
    }


def test_a_provider_without_schemas_is_told_the_whole_schema() -> None:
    body = sent(asking(output=JsonOutput(SCHEMA)), flags_of("deepseek"))
    assert body["response_format"] == {"type": "json_object"}
    system, asked = body["messages"]
    assert system["role"] == "system"
    assert json.loads(system["content"].partition("\n")[2]) == SCHEMA
    assert asked["content"] == ASKED.text


def test_groq_takes_no_tools_together_with_a_form() -> None:
    call = asking(tools=TOOLS, output=JsonOutput(SCHEMA))
    assert refused(call, "groq") == "response_format"
    assert refused(call, "openai") is None


def test_openrouter_passes_calls_on_to_those_who_take_all_of_them() -> None:
    flags = flags_of("openrouter")
    assert sent(asking(tools=TOOLS), flags)["provider"] == {"require_parameters": True}
    assert "provider" not in sent(asking(), flags)


PAGE = ROOT / "docs/operations/providers.md"
DATA_URL = "data:image/png;base64," + base64.b64encode(PICTURE.data).decode()


def test_pictures_stand_between_the_texts() -> None:
    near = msgspec.structs.replace(PICTURE, detail="high")
    asked = Message("user", "Compare\nthem.", ("Compare", PICTURE, near, "them."))
    assert sent(asking(asked))["messages"][0]["content"] == [
        {"type": "text", "text": "Compare"},
        {"type": "image_url", "image_url": {"url": DATA_URL}},
        {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "high"}},
        {"type": "text", "text": "them."},
    ]


def test_a_type_of_pictures_that_a_provider_does_not_take_is_refused() -> None:
    animated = msgspec.structs.replace(PICTURE, media_type="image/gif")
    call = asking(ASKED, Message("user", "", (animated,)))
    assert refused(call, "xai") == "messages[1]"
    assert refused(call, "openai") is None


SHOWN = Message("tool", "Look.", ("Look.", PICTURE), tool_call_id="call_1")


def test_pictures_of_results_follow_after_all_results() -> None:
    both = (*CALLS.tool_calls, ToolCall("call_2", "get_time", "{}"))
    later = Message("tool", "Noon.", tool_call_id="call_2")
    thanks = Message("user", "Thanks.")
    told = sent(asking(Message("assistant", "", tool_calls=both), SHOWN, later, thanks))["messages"]
    assert [each["role"] for each in told] == ["assistant", "tool", "tool", "user", "user"]
    assert told[1]["content"] == "Look."
    assert told[3]["content"][1:] == [{"type": "image_url", "image_url": {"url": DATA_URL}}]
    at_the_end = sent(asking(CALLS, SHOWN))["messages"]
    assert [each["role"] for each in at_the_end] == ["assistant", "tool", "user"]


def test_a_result_has_its_pictures_where_the_provider_takes_them() -> None:
    told = sent(asking(CALLS, SHOWN), flags_of("mistral"))["messages"]
    assert [part["type"] for part in told[1]["content"]] == ["text", "image_url"]


CALL_IDS = st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9_-]{1,60}", fullmatch=True)


@given(own=CALL_IDS, name=st.sampled_from(SPOKEN))
def test_the_id_of_a_call_is_one_that_the_provider_takes_and_the_same_for_its_result(
    own: str, name: str
) -> None:
    marked = with_state(own, "a", "Thinking of another provider.")
    turn = Message("assistant", "", tool_calls=(ToolCall(marked, "get_time", "{}"),))
    result = Message("tool", "Noon.", tool_call_id=marked)
    told = sent(asking(turn, result), flags_of(name))["messages"]
    form = r"[A-Za-z0-9]{9}" if name == "mistral" else r"[A-Za-z0-9_.:-]{1,40}"
    assert re.fullmatch(form, told[0]["tool_calls"][0]["id"])
    assert told[0]["tool_calls"][0]["id"] == told[1]["tool_call_id"]


@pytest.mark.parametrize(
    ("own", "name"), [("call_1", "openai"), ("functions.f:0", "moonshot"), ("gSIMJiOkT", "mistral")]
)
def test_the_provider_s_own_id_comes_back(own: str, name: str) -> None:
    turn = Message("assistant", "", tool_calls=(ToolCall(own, "get_time", "{}"),))
    assert sent(asking(turn), flags_of(name))["messages"][0]["tool_calls"][0]["id"] == own


def turn_with_state(form: Any, state: str) -> Message:
    first = ToolCall(with_state("call_1", form, state), "get_time", "{}")
    return Message("assistant", "", tool_calls=(first, ToolCall("call_2", "get_time", "{}")))


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("deepseek", "reasoning_content"),
        ("moonshot", "reasoning_content"),
        ("zai", "reasoning_content"),
        ("groq", "reasoning"),
    ],
)
def test_reasoning_comes_back_with_the_calls_that_followed_it(name: str, field: str) -> None:
    [turn] = sent(asking(turn_with_state("r", "Hm.")), flags_of(name))["messages"]
    assert turn[field] == "Hm."
    assert turn["tool_calls"][0]["id"] == "call_1"


@pytest.mark.parametrize("name", ["deepseek", "moonshot"])
def test_a_turn_whose_reasoning_is_lost_has_a_blank_one_where_one_is_demanded(name: str) -> None:
    [turn] = sent(asking(turn_with_state("a", "Signed.")), flags_of(name))["messages"]
    assert turn["reasoning_content"] == " "
    [turn] = sent(asking(turn_with_state("a", "Signed.")), flags_of("zai"))["messages"]
    assert "reasoning_content" not in turn


def test_openrouter_gets_the_details_of_reasoning_back() -> None:
    details = [{"type": "reasoning.encrypted", "data": "abc", "index": 0}]
    flags = flags_of("openrouter")
    [turn] = sent(asking(turn_with_state("d", json.dumps(details))), flags)["messages"]
    assert turn["reasoning_details"] == details
    [turn] = sent(asking(turn_with_state("d", "made up")), flags)["messages"]
    assert "reasoning_details" not in turn


def test_what_a_provider_has_no_field_for_does_not_reach_it() -> None:
    [turn] = sent(asking(turn_with_state("r", "Hm.")))["messages"]
    assert turn.keys() == {"role", "content", "tool_calls"}


def test_a_call_without_tools_is_sent_as_ever() -> None:
    for name in SPOKEN:
        flags = replace(flags_of(name), default_system_message=None)
        assert sent(asking(), flags)["messages"] == [{"role": "user", "content": ASKED.text}]
        assert refused(asking(), name) is None


def taken(name: str) -> list[str]:
    """What the documents say that a provider takes of tools and schemas."""
    flags = flags_of(name)
    forced = [choice for choice in ("required", "named") if choice in flags.tool_choices]
    return [
        name,
        ", ".join(["none", *forced]),
        "no" if flags.parallel_calls == "fixed" else "yes",
        "yes" if flags.strict_tools else "no",
        "yes" if flags.enforces_schemas else "no",
    ]


def test_the_documents_tell_what_each_provider_takes() -> None:
    told = rows(section(PAGE, "What providers take of tools and schemas"))
    assert told == [taken(name) for name, *_ in told]
    assert len(told) > 10
