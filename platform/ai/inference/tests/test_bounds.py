"""How much a call may produce: what is asked for, or as much of it as can be paid; and what it
costs at worst."""

from dataclasses import replace
from io import BytesIO
from typing import Any, cast

import msgspec
import pytest
from asgiref.sync import async_to_sync
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image as Pixels

from ai.catalog.pricing import speech_cost, token_cost
from ai.catalog.selectors import get_catalog
from ai.catalog.types import ImagePrice, Model, SpeechPrice, TokenPrice
from ai.inference.bounds import (
    DEFAULT_OUTPUT_TOKENS,
    LEAST_OUTPUT_TOKENS,
    affordable_output,
    chat_cost,
    input_bound,
    worst_chat_cost,
)
from ai.inference.embeddings import EmbeddingRunner
from ai.inference.images import ImageRunner
from ai.inference.meter import Meter
from ai.inference.types import Call, ChatCall, EmbeddingCall, ImageCall, SpeechCall
from ai.provider_health.services import permit_of
from ai.providers.call_ids import with_state
from ai.providers.image_tokens import estimate_image
from ai.providers.tests.prompts import CHAT, conversations, outputs, tools
from ai.providers.token_estimate import estimate_text
from ai.providers.types import (
    Deadlines,
    Delta,
    EmbeddingRequest,
    Embeddings,
    Image,
    ImageRequest,
    InputImage,
    JsonOutput,
    Message,
    ReasoningDelta,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
    Tools,
    Usage,
)
from billing.selectors.affordability import SpendingPower
from common.database import get_database
from common.ids import uuid7
from conftest import Persona

pytestmark = pytest.mark.django_db

rates = st.integers(0, 80_000_000)


@st.composite
def token_prices(draw: st.DrawFn) -> TokenPrice:
    """As the database takes them: cached input is no dearer than other input, if it has a price."""
    plain, output, fee = draw(rates), draw(rates), draw(rates)
    return TokenPrice(1, plain, output, fee, draw(st.none() | st.integers(0, plain)))


prices = token_prices()
# As much as a few thousand tokens cost.
amounts = st.integers(0, 500_000_000)
texts = st.text(max_size=500)


def model_at(price: TokenPrice, max_output_tokens: int = 100_000) -> Model:
    return replace(
        get_catalog().models["kimi-k3"], price=price, max_output_tokens=max_output_tokens
    )


def power(available: int, allowances: dict[str, int]) -> SpendingPower:
    """That of an account of which no running call holds anything."""
    return SpendingPower("pro", available, allowances, available, allowances)


@given(
    price=prices,
    allowance=amounts,
    available=amounts,
    text=texts,
    asked=st.none() | st.integers(1, 20_000),
    most=st.integers(1, 20_000),
)
@example(TokenPrice(1, 0, 0, 0), 0, 0, "Free of charge.", None, 100_000)
@settings(deadline=None)
def test_the_affordable_output_is_the_largest_that_a_hold_admits(
    price: TokenPrice, allowance: int, available: int, text: str, asked: int | None, most: int
) -> None:
    model, messages = model_at(price, most), (Message("user", text),)
    spending_power = power(available, {model.id: allowance})
    wanted = min(asked or DEFAULT_OUTPUT_TOKENS, most)

    bound = affordable_output(spending_power, model, messages, asked)

    def is_admitted(tokens_out: int) -> bool:
        worst = chat_cost(model, input_bound(model, messages), tokens_out)
        return spending_power.refusal_of(model.id, worst) is None

    least = min(LEAST_OUTPUT_TOKENS, wanted)
    assert least <= bound <= wanted
    assert is_admitted(bound) or bound == least
    assert bound == wanted or not is_admitted(bound + 1)


def test_the_affordable_output_shrinks_with_the_funds() -> None:
    # A token costs a nano-USD, and of the balance two.
    model = model_at(TokenPrice(1, 1_000, 1_000, 0))
    messages = (Message("user", "Hello."),)
    tokens_in = input_bound(model, messages)

    def bound(*, allowance: int = 0, available: int = 0) -> int:
        return affordable_output(power(available, {model.id: allowance}), model, messages)

    assert bound(allowance=tokens_in + 8_192) == 8_192
    assert bound(allowance=tokens_in + 8_191) == 8_191
    assert bound(allowance=tokens_in + 1_000, available=401) == 1_200
    assert bound(available=2 * (tokens_in + 512)) == 512
    assert bound(available=2 * (tokens_in + 512) - 1) == 512
    assert bound() == 512


def test_a_model_or_a_caller_may_want_less_than_the_least() -> None:
    price, messages = TokenPrice(1, 1_000, 1_000, 0), (Message("user", "Hello."),)
    nothing = power(0, {})

    assert affordable_output(nothing, model_at(price, 100), messages) == 100
    assert affordable_output(nothing, model_at(price), messages, 64) == 64


calls: dict[str, Any] = {
    "account_id": uuid7(),
    "api_key_id": None,
    "source": "api",
    "request_id": "req_test",
}


counts = st.integers(0, 1_000_000)
counted = st.builds(Usage, counts, counts, counts, counts)

PICTURE = InputImage(b"", "image/png", 2_000, 1_500)
LONG = "".join(f"The model thought of {number}. " for number in range(200))


def meter_of(call: ChatCall) -> Meter:
    price = cast(TokenPrice, call.model.price)
    return Meter(price, lambda: call.estimated_input, call.input_bound, call.output_bound)


@given(price=prices, text=texts, asked=st.none() | st.integers(1, 20_000), used=st.data())
def test_no_usage_of_a_chat_call_costs_more_than_its_worst(
    price: TokenPrice, text: str, asked: int | None, used: st.DataObject
) -> None:
    messages = (Message("user", text),)
    call = ChatCall(**calls, model=model_at(price), messages=messages, max_output_tokens=asked)
    meter = meter_of(call)
    meter.take([used.draw(counted), TextDelta("a")])
    assert meter.cost <= call.worst_cost
    if asked is None:
        assert call.worst_cost == worst_chat_cost(call.model, messages)


@st.composite
def calls_with_everything(draw: st.DrawFn) -> ChatCall:
    """Calls with tools, results, pictures, forms and state."""
    model = replace(model_at(draw(prices)), provider=draw(st.sampled_from(CHAT)))
    return ChatCall(
        **calls,
        model=model,
        messages=tuple(draw(conversations)),
        max_output_tokens=draw(st.none() | st.integers(1, 20_000)),
        tools=draw(st.none() | tools),
        output=draw(st.none() | outputs),
    )


pieces = st.builds(
    ToolCallDelta, st.integers(0, 3), texts, st.just("call_1"), st.sampled_from(["", "get_time"])
)
deltas = pieces | st.builds(TextDelta, texts) | st.builds(ReasoningDelta, texts)


@given(calls_with_everything(), st.lists(deltas, max_size=6), st.none() | counted)
@settings(deadline=None)
def test_whatever_a_call_has_it_is_billed_no_more_than_is_held(
    call: ChatCall, shown: list[Delta], told: Usage | None
) -> None:
    meter = meter_of(call)
    for delta in shown:
        meter.take([delta])
    meter.take([told] if told else [])
    assert meter.cost <= call.worst_cost
    assert meter.usage.input_tokens <= call.input_bound
    assert 1 <= call.estimated_input <= call.input_bound


def test_what_is_billed_without_a_count_is_the_estimate_of_what_was_asked_and_shown() -> None:
    call = ChatCall(
        **calls,
        model=model_at(TokenPrice(1, 1_000, 1_000, 0)),
        messages=(Message("user", "How is the weather?", ("How is the weather?", PICTURE)),),
        tools=Tools((Tool("get_weather", "The weather of a city."),)),
    )
    meter = meter_of(call)
    arguments = '{"city": "Bern", "days": 3}'
    meter.take([ToolCallDelta(0, "", "call_1", "get_weather"), ToolCallDelta(0, arguments)])
    assert meter.usage == Usage(call.estimated_input, estimate_text("get_weather" + arguments))
    plain = msgspec.structs.replace(call, messages=(Message("user", "How is the weather?"),))
    assert call.estimated_input - plain.estimated_input == estimate_image("moonshot", PICTURE)
    assert plain.estimated_input > estimate_text("How is the weather?" + "get_weather")


@pytest.mark.parametrize(
    "more",
    [
        {"tools": Tools((Tool("get_weather", "x" * 3_000),))},
        {"output": JsonOutput({"description": "x" * 3_000})},
        {"messages": (Message("tool", "x" * 3_000, tool_call_id="call_1"),)},
        {
            "messages": (
                Message("assistant", "", tool_calls=(ToolCall("call_1", "f", "x" * 3_000),)),
            )
        },
        {
            "messages": (
                Message(
                    "assistant",
                    "",
                    tool_calls=(ToolCall(with_state("call_1", "r", LONG), "f", "{}"),),
                ),
            )
        },
        {"messages": (Message("user", "", (PICTURE,)),)},
    ],
    ids=["tools", "a schema", "a result", "arguments", "state", "a picture"],
)
def test_each_thing_that_a_call_may_have_is_held_for(more: dict[str, Any]) -> None:
    price = TokenPrice(1, 1_000, 0, 0)  # a token of the input costs a nano-USD
    text = Message("user", "Hello.")
    call = ChatCall(**calls, model=model_at(price), messages=(text,))
    messages = (text, *more.pop("messages", ()))
    longer = msgspec.structs.replace(call, messages=messages, **more)
    assert longer.worst_cost - call.worst_cost >= 3_000


@given(price=prices, inputs=st.lists(texts, max_size=5).map(tuple))
def test_no_text_has_more_tokens_than_an_embeddings_call_is_held_for(
    price: TokenPrice, inputs: tuple[str, ...]
) -> None:
    call = EmbeddingCall(**calls, model=model_at(price), inputs=inputs)
    tokens = sum(len(text.encode()) for text in inputs)
    assert token_cost(price, tokens, 0) <= call.worst_cost


class Provider:
    """A provider that makes as many pictures, and reports as many tokens, as it likes."""

    def __init__(self, count: int) -> None:
        self.count = count

    async def embed(self, request: EmbeddingRequest, _deadlines: Deadlines) -> Embeddings:
        return Embeddings(["AAAAAA=="] * len(request.inputs), self.count)

    async def generate(self, _request: ImageRequest, _deadlines: Deadlines) -> list[Image]:
        file = BytesIO()
        Pixels.new("RGB", (8, 8)).save(file, "PNG")
        return [Image(file.getvalue(), "image/png")] * self.count


@given(price=prices, inputs=st.lists(texts, min_size=1, max_size=5).map(tuple), used=st.data())
@settings(deadline=None)
def test_no_tokens_that_a_provider_reports_cost_more_than_is_held_for_an_embeddings_call(
    price: TokenPrice, inputs: tuple[str, ...], used: st.DataObject
) -> None:
    call = EmbeddingCall(**calls, model=model_at(price), inputs=inputs)
    runner = EmbeddingRunner(
        call,
        Provider(used.draw(st.integers(0, 1_000_000))),
        permit_of(call.model, None),
        uuid7(),
    )
    async_to_sync(runner._call_provider)(60)
    outcome = runner._outcome()
    assert outcome is not None
    assert outcome[1].cost <= call.worst_cost


async def _call_provider(runner: ImageRunner) -> None:
    try:
        await runner._call_provider(60)
    finally:
        await get_database().close()


@pytest.mark.parametrize("made", [1, 2, 5])
def test_no_pictures_cost_more_than_those_that_were_asked_for(made: int, alice: Persona) -> None:
    model = replace(get_catalog().models["kimi-k3"], price=ImagePrice(1, {"high": 7}, fee=2))
    call = ImageCall(
        **calls | {"account_id": alice.user.pk},
        model=model,
        prompt="A sea.",
        n=2,
        size="1024x1024",
        quality="high",
    )
    runner = ImageRunner(call, Provider(made), permit_of(call.model, None), uuid7())
    async_to_sync(_call_provider)(runner)
    outcome = runner._outcome()
    assert outcome is not None
    assert outcome[1].cost == 9 * min(made, 2) <= call.worst_cost


@pytest.mark.parametrize("n", [1, 2, 10])
def test_pictures_cost_at_worst_as_much_as_all_of_them(n: int) -> None:
    model = replace(get_catalog().models["kimi-k3"], price=ImagePrice(1, {"high": 7}, fee=2))
    call = ImageCall(**calls, model=model, prompt="A sea.", n=n, size="1024x1024", quality="high")
    assert call.worst_cost == 9 * n


@given(price=st.builds(SpeechPrice, st.just(1), rates, rates), duration=st.floats(0, 14_400))
def test_audio_costs_at_worst_its_measured_length(price: SpeechPrice, duration: float) -> None:
    model = replace(get_catalog().models["kimi-k3"], price=price, minimum_seconds=3)
    call = SpeechCall(**calls, model=model, audio=b"", format="wav", duration=duration)
    assert call.billed_seconds >= max(3, duration)
    assert call.worst_cost == speech_cost(price, call.billed_seconds)


# Without those of the layers above, which runners do not carry out.
KINDS = [kind for kind in Call.__subclasses__() if kind.__module__.startswith("ai.inference.")]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_call_has_a_name_of_its_own(kind: type[Call]) -> None:
    names = [each.kind for each in KINDS]
    assert names.count(kind.kind) == 1
    assert kind.worst_cost is not Call.worst_cost
