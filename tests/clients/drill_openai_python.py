"""The unmodified openai-python client against the running service."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import openai
import pytest

from ai.catalog.seeds import CHAT_MODELS
from common.money import NUSD_PER_USD
from publicapi.tests.v1.customer import BALANCE_ONLY, IMAGE, IN_PLAN, NOT_CONFIGURED, Customer
from tests.personas import new_key, new_user
from tests.service import Web

EMBEDDING = "text-embedding-3-small"

Asking = Callable[..., list[Any]]


def options(web: Web, key: str, *, strict: bool = True) -> dict[str, Any]:
    """How every client here is made. A strict one accepts no field that is missing or of another
    type than OpenAI's own interface has it."""
    return {
        "base_url": f"{web.url}/v1",
        "api_key": key,
        "max_retries": 0,
        "_strict_response_validation": strict,
    }


@pytest.fixture
def client(web: Web, alice: Customer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(**options(web, alice.raw_key)) as client:
        yield client


@pytest.fixture
async def async_client(web: Web, alice: Customer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(**options(web, alice.raw_key)) as client:
        yield client


@pytest.fixture
def asking(alice: Customer) -> Asking:
    """The messages of a request of alice's; its keywords are what the simulator shall do."""

    def asking(**steering: Any) -> list[Any]:
        question = alice.prompt("What is the capital of France?", **steering)
        return [{"role": "user", "content": question}]

    return asking


# --- Answers ------------------------------------------------------------------------------------


def test_a_whole_answer_comes_with_the_tokens_that_were_billed(
    client: openai.OpenAI,
    alice: Customer,
    asking: Asking,
) -> None:
    answer = client.chat.completions.create(model=IN_PLAN, messages=asking(tokens=7))
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert choice.message.role == "assistant"
    assert len((choice.message.content or "").split()) == 7
    assert answer.object == "chat.completion"
    assert answer.model == IN_PLAN
    assert answer.usage
    assert answer.usage.completion_tokens == 7
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 7
    charge = alice.charge()
    assert (charge.tokens_in, charge.tokens_out) == (answer.usage.prompt_tokens, 7)


def test_a_stream_ends_with_its_reason_and_its_usage(client: openai.OpenAI, asking: Asking) -> None:
    with client.chat.completions.create(
        model=IN_PLAN, messages=asking(tokens=7), stream=True
    ) as stream:
        chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert len("".join(chunk.choices[0].delta.content or "" for chunk in chunks).split()) == 7
    assert [c.choices[0].finish_reason for c in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert chunks[-1].usage
    assert chunks[-1].usage.completion_tokens == 7


def test_a_bound_on_the_output_is_kept(client: openai.OpenAI, asking: Asking) -> None:
    answer = client.chat.completions.create(model=IN_PLAN, messages=asking(tokens=50), max_tokens=5)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage
    assert answer.usage.completion_tokens == 5


def test_the_stream_helper_puts_the_answer_together(client: openai.OpenAI, asking: Asking) -> None:
    with client.chat.completions.stream(
        model=IN_PLAN, messages=asking(tokens=7), stream_options={"include_usage": True}
    ) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        answer = stream.get_final_completion()
    assert len("".join(deltas).split()) == 7
    assert answer.choices[0].message.content == "".join(deltas)
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage
    assert answer.usage.completion_tokens == 7


def test_every_answer_names_its_request(
    client: openai.OpenAI, alice: Customer, asking: Asking
) -> None:
    answer = client.chat.completions.create(model=IN_PLAN, messages=asking(tokens=1))
    assert answer._request_id == alice.charge().request_id
    raw = client.chat.completions.with_raw_response.create(
        model=IN_PLAN, messages=asking(tokens=1), stream=True
    )
    assert raw.request_id
    assert raw.headers["x-ratelimit-limit"] == "120"
    with raw.parse() as stream:
        assert list(stream)


async def test_the_async_client_gets_a_whole_answer(
    async_client: openai.AsyncOpenAI, asking: Asking
) -> None:
    answer = await async_client.chat.completions.create(model=IN_PLAN, messages=asking(tokens=7))
    assert answer.usage
    assert answer.usage.completion_tokens == 7


async def test_the_async_client_gets_a_stream(
    async_client: openai.AsyncOpenAI, asking: Asking
) -> None:
    async with await async_client.chat.completions.create(
        model=IN_PLAN, messages=asking(tokens=7), stream=True
    ) as stream:
        chunks = [chunk async for chunk in stream]
    assert len("".join(chunk.choices[0].delta.content or "" for chunk in chunks).split()) == 7
    assert chunks[-1].usage
    assert chunks[-1].usage.completion_tokens == 7


async def test_the_async_stream_helper_puts_the_answer_together(
    async_client: openai.AsyncOpenAI,
    asking: Asking,
) -> None:
    async with async_client.chat.completions.stream(
        model=IN_PLAN, messages=asking(tokens=7)
    ) as stream:
        answer = await stream.get_final_completion()
    assert len((answer.choices[0].message.content or "").split()) == 7


# --- Embeddings ---------------------------------------------------------------------------------


def test_texts_are_embedded_as_the_client_asks_by_default(web: Web, alice: Customer) -> None:
    # It asks for base64 and makes numbers of it. A strict one stumbles over its own base64.
    with openai.OpenAI(**options(web, alice.raw_key, strict=False)) as client:
        answer = client.embeddings.create(
            model=EMBEDDING, input=[alice.prompt("cats"), alice.prompt("dogs")]
        )
    cats, dogs = answer.data
    assert (cats.index, dogs.index) == (0, 1)
    assert len(cats.embedding) == len(dogs.embedding) == 1536
    assert cats.embedding != dogs.embedding
    assert sum(x * x for x in cats.embedding) == pytest.approx(1, abs=1e-4)
    assert answer.usage.prompt_tokens == answer.usage.total_tokens == alice.charge().tokens_in


def test_the_same_numbers_come_as_floats_and_as_base64(
    client: openai.OpenAI, web: Web, alice: Customer
) -> None:
    texts = alice.prompt("cats")
    [floats] = client.embeddings.create(
        model=EMBEDDING, input=texts, encoding_format="float", dimensions=256
    ).data
    with openai.OpenAI(**options(web, alice.raw_key, strict=False)) as default:
        [decoded] = default.embeddings.create(model=EMBEDDING, input=texts, dimensions=256).data
    assert len(floats.embedding) == 256
    assert floats.embedding == pytest.approx(decoded.embedding, abs=1e-7)


async def test_the_async_client_embeds_a_text(
    async_client: openai.AsyncOpenAI, alice: Customer
) -> None:
    answer = await async_client.embeddings.create(
        model=EMBEDDING, input=alice.prompt("cats"), encoding_format="float"
    )
    assert len(answer.data[0].embedding) == 1536


# --- Images -------------------------------------------------------------------------------------


def test_pictures_are_made_and_can_be_fetched_without_a_key(
    client: openai.OpenAI, alice: Customer
) -> None:
    answer = client.images.generate(
        model=IMAGE, prompt=alice.prompt("A red boat."), n=2, size="1536x1024", quality="low"
    )
    assert answer.data
    pictures = [httpx.get(picture.url or "") for picture in answer.data]
    assert [picture.headers["content-type"] for picture in pictures] == ["image/png"] * 2
    assert answer.usage
    assert answer.usage.total_tokens == 0
    charge = alice.charge()
    billed = answer.usage.model_dump()["billed_usd"]
    assert round(billed * NUSD_PER_USD) == charge.charge_plan + charge.charge_balance


async def test_the_async_client_gets_a_picture(
    async_client: openai.AsyncOpenAI, alice: Customer
) -> None:
    answer = await async_client.images.generate(model=IMAGE, prompt=alice.prompt("A red boat."))
    assert answer.data
    assert answer.data[0].url


# --- Models -------------------------------------------------------------------------------------


def test_models_are_listed(client: openai.OpenAI) -> None:
    models = {model.id: model for model in client.models.list()}
    assert {seed.id for seed in CHAT_MODELS} <= models.keys()
    assert models[IN_PLAN].object == "model"
    assert models[IN_PLAN].owned_by == "openai"


async def test_the_async_client_lists_models(async_client: openai.AsyncOpenAI) -> None:
    assert IN_PLAN in {model.id async for model in async_client.models.list()}


def test_one_model_is_retrieved_by_id_and_by_former_name(client: openai.OpenAI) -> None:
    assert client.models.retrieve(IN_PLAN).id == IN_PLAN
    assert client.models.retrieve("gpt-4o-mini").id == IN_PLAN


# --- Errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "code", "steering", "request_body"),
    [
        (openai.BadRequestError, 400, "invalid_messages", {}, {"messages": []}),
        (openai.BadRequestError, 400, "invalid_body", {}, {"max_tokens": -1}),
        (openai.NotFoundError, 404, "model_not_found", {}, {"model": "dall-e-2"}),
        (openai.InternalServerError, 502, "upstream_error", {"fail": "before", "status": 500}, {}),
        (openai.InternalServerError, 503, "provider_unavailable", {}, {"model": NOT_CONFIGURED}),
    ],
)
def test_a_failed_call_has_a_class_a_status_a_code_and_a_request_id(
    client: openai.OpenAI,
    kind: type[openai.APIStatusError],
    status: int,
    code: str,
    steering: dict[str, Any],
    request_body: dict[str, Any],
    asking: Asking,
) -> None:
    with pytest.raises(kind) as caught:
        client.chat.completions.create(
            **{"model": IN_PLAN, "messages": asking(**steering), **request_body}
        )
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.request_id
    assert caught.value.request_id.startswith("req_")


@pytest.mark.parametrize(
    ("authorization", "code"),
    [("", "missing_api_key"), ("Bearer mk_" + "0" * 44, "invalid_api_key")],
)
def test_a_missing_or_unknown_key_is_an_authentication_error(
    client: openai.OpenAI,
    authorization: str,
    code: str,
    asking: Asking,
) -> None:
    caller = client.with_options(default_headers={"Authorization": authorization})
    with pytest.raises(openai.AuthenticationError) as caught:
        caller.chat.completions.create(model=IN_PLAN, messages=asking())
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("plan", "models", "code"),
    [("free", (), "api_access_required"), ("max", ("grok-4.7",), "model_not_allowed")],
)
def test_what_a_key_may_not_do_is_a_permission_error(
    web: Web,
    plan: str,
    models: tuple[str, ...],
    code: str,
    asking: Asking,
) -> None:
    _, key = new_key(new_user("bob", plan=plan, balance_usd=1), models=models)
    with (
        openai.OpenAI(**options(web, key)) as client,
        pytest.raises(openai.PermissionDeniedError) as caught,
    ):
        client.chat.completions.create(model=IN_PLAN, messages=asking())
    assert caught.value.code == code


def test_an_empty_balance_is_a_402_that_the_client_does_not_retry(web: Web, asking: Asking) -> None:
    _, key = new_key(new_user("bob", plan="max"))
    with (
        openai.OpenAI(**options(web, key) | {"max_retries": 2}) as client,
        pytest.raises(openai.APIStatusError) as caught,
    ):
        client.chat.completions.create(model=BALANCE_ONLY, messages=asking())
    assert (caught.value.status_code, caught.value.code) == (402, "insufficient_balance")
    assert caught.value.response.headers["x-should-retry"] == "false"


def test_too_many_requests_are_a_rate_limit_error(client: openai.OpenAI) -> None:
    for _ in range(120):
        client.models.retrieve(IN_PLAN)
    with pytest.raises(openai.RateLimitError) as caught:
        client.models.retrieve(IN_PLAN)
    assert caught.value.code == "rate_limit_exceeded"
    assert 1 <= int(caught.value.response.headers["retry-after"]) <= 60


def test_a_failure_in_the_middle_of_a_stream_is_raised_after_what_came(
    client: openai.OpenAI,
    alice: Customer,
    asking: Asking,
) -> None:
    stream = client.chat.completions.create(
        model=IN_PLAN,
        messages=asking(text="one " * 9, fail="after", after_tokens=3),
        stream=True,
    )
    received: list[str] = []
    with stream, pytest.raises(openai.APIError) as caught:
        received.extend(chunk.choices[0].delta.content or "" for chunk in stream)
    assert caught.value.code == "upstream_error"
    assert len("".join(received).split()) == 3
    assert alice.charge().tokens_out == 3
