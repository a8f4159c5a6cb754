"""Clients as they are by default, behind a proxy that closes both sides: what they send again by
themselves is paid once."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import openai
import pytest

from devserver.paths import ROOT
from publicapi.tests.v1.customer import IMAGE, IN_PLAN, Customer
from tests import documents
from tests.chaos.calls import wait_for
from tests.chaos.proxy import ChosenCutProxy
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, node_client
from tests.service import Web

EMBEDDING = "text-embedding-3-small"
QUESTION = '"What is the capital of France?"'

T = TypeVar("T")


@pytest.fixture
def proxy(web: Web) -> Iterator[ChosenCutProxy]:
    with ChosenCutProxy(web.port) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: ChosenCutProxy, alice: Customer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=alice.raw_key) as client:
        yield client


def cut(proxy: ChosenCutProxy, alice: Customer, call: Callable[[], T]) -> T:
    """What a call brings that is cut while its provider works."""
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(call)
        wait_for(alice.provider_calls)
        proxy.cut()
        return waiting.result()


def assert_paid_once(alice: Customer) -> None:
    assert len(alice.provider_calls()) == 1
    assert alice.charge().status == "settled"


# --- openai-python --------------------------------------------------------------------------------


def answer(client: openai.OpenAI, prompt: str) -> Any:
    """The id of the answer."""
    messages: Any = [{"role": "user", "content": prompt}]
    return client.chat.completions.create(model=IN_PLAN, messages=messages).id


def stream(client: openai.OpenAI, prompt: str) -> Any:
    messages: Any = [{"role": "user", "content": prompt}]
    with client.chat.completions.create(model=IN_PLAN, messages=messages, stream=True) as chunks:
        return [chunk.id for chunk in chunks][-1]


def embeddings(client: openai.OpenAI, prompt: str) -> Any:
    return client.embeddings.create(model=EMBEDDING, input=prompt).data[0].embedding


def images(client: openai.OpenAI, prompt: str) -> Any:
    return client.images.generate(model=IMAGE, prompt=prompt).data


@pytest.mark.parametrize("ask", [answer, stream, embeddings, images])
def test_openai_python_gets_the_answer_that_was_paid(
    client: openai.OpenAI, proxy: ChosenCutProxy, alice: Customer, ask: Callable[..., Any]
) -> None:
    prompt = alice.prompt("A red boat.", ttft_ms=1200)

    got = cut(proxy, alice, lambda: ask(client, prompt))

    assert_paid_once(alice)
    if ask in (answer, stream):
        assert got == f"chatcmpl-{alice.charge().pk.hex}"
    assert got


def test_openai_python_gets_a_large_answer_that_was_cut_in_the_middle(
    web: Web, alice: Customer
) -> None:
    texts = [alice.prompt(f"Text {number}.") for number in range(256)]
    with (
        ChosenCutProxy(web.port, at=200_000, cuts=1) as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=alice.raw_key) as client,
    ):
        vectors = client.embeddings.create(model=EMBEDDING, input=texts, encoding_format="float")
        assert proxy.cuts_left == 0

    assert len(vectors.data) == 256
    assert_paid_once(alice)


def test_a_stream_that_broke_off_is_asked_for_again_by_its_id(web: Web, alice: Customer) -> None:
    """Of a stream that has begun the client raises an error; its user knows the request's id."""
    messages: Any = [{"role": "user", "content": alice.prompt(tokens=40, delay_ms=20)}]
    with (
        ChosenCutProxy(web.port, at=2_500, cuts=1) as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=alice.raw_key) as client,
    ):
        create = client.chat.completions.create
        broken = create(model=IN_PLAN, messages=messages, stream=True)
        with pytest.raises(openai.APIConnectionError):
            list(broken)
        lost = {"x-retry-of": broken.response.headers["x-request-id"]}
        whole = create(model=IN_PLAN, messages=messages, stream=True, extra_headers=lost)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in whole)

    assert whole.response.headers["x-idempotency-replayed"] == "true"
    assert len(text.split()) == 40
    assert_paid_once(alice)


# --- openai-node and the AI SDK -------------------------------------------------------------------


@node_client("openai_node", "openai-node")
@pytest.mark.parametrize("kind", ["answer", "stream", "embeddings", "image"])
def test_openai_node_gets_the_answer_that_was_paid(
    run: Run, proxy: ChosenCutProxy, alice: Customer, kind: str
) -> None:
    prompt = alice.prompt("A red boat.", **_lasting(kind))
    program = PROGRAMS / "openai_node" / "retries.mjs"

    seen = cut(proxy, alice, lambda: run("node", program, kind, prompt, BASE_URL=f"{proxy.url}/v1"))

    assert_paid_once(alice)
    got = json.loads(seen)
    if kind in ("answer", "stream"):
        assert got == {"id": f"chatcmpl-{alice.charge().pk.hex}", "words": 7}
    else:
        assert got in ({"numbers": 1536}, {"pictures": 1})


@node_client("ai_sdk", "The Vercel AI SDK")
def test_the_ai_sdk_gets_the_answer_that_was_paid_by_the_documented_wrapper(
    run: Run, proxy: ChosenCutProxy, alice: Customer, tmp_path: Path
) -> None:
    page = ROOT / "docs" / "api" / "v1.md"
    [example] = documents.examples(documents.section(page, "Lost answers"), "js")
    assert QUESTION in example
    prompt = alice.prompt(text="Paris it is.", ttft_ms=1500)
    (tmp_path / "node_modules").symlink_to(PROGRAMS / "ai_sdk" / "node_modules")
    (tmp_path / "example.mjs").write_text(example.replace(QUESTION, json.dumps(prompt)))

    seen = cut(
        proxy,
        alice,
        lambda: run("node", tmp_path / "example.mjs", BASE_URL=f"{proxy.url}/v1"),
    )

    assert seen == "Paris it is.\n"
    assert_paid_once(alice)


def _lasting(kind: str) -> dict[str, int]:
    return {"ttft_ms": 1500} | ({"tokens": 7} if kind in ("answer", "stream") else {})
