"""Providers that send what they were not asked for: it is cut, or it is no answer."""

import base64
import json
from io import BytesIO

import pytest
from PIL import Image

from ai.providers.tests import chunks
from common.tests.upstream import JSON, Answer, Upstream
from publicapi.tests.v1.customer import EMBEDDING, Customer
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.scripted import Scripted

PNG = b"\x89PNG\r\n\x1a\n"


def a_picture() -> bytes:
    file = BytesIO()
    Image.effect_noise((64, 64), 50).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def alice(committed: None, scripted: Scripted, upstream: Upstream) -> Customer:
    return scripted.new_customer()


def texts(answer: str) -> str:
    """The text of a streamed answer."""
    lines = [line[6:] for line in answer.splitlines() if line.startswith("data: {")]
    choices = [choice for line in lines for choice in json.loads(line)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


@pytest.mark.parametrize("counts", [{}, {"usage": chunks.usage(completion=1)}])
def test_a_stream_that_ignores_its_bound_is_cut_and_billed_at_the_bound(
    alice: Customer, upstream: Upstream, counts: dict[str, object]
) -> None:
    """25 MB for 20 tokens, whatever the provider counts before."""
    first = chunks.event({"choices": [{"index": 0, "delta": {"content": "a"}}], **counts})
    upstream.answer = Answer([first, *[chunks.text("long " * 200)] * 25_000], ending="hanging")

    answer = alice.chat(stream=True, max_tokens=20)

    assert answer.status_code == 200
    assert 6_000 < len(texts(answer.text)) < 8_000
    assert '"finish_reason":"length"' in answer.text.replace(" ", "")
    assert alice.charge().units["tokens_out"] == 20


def test_a_long_answer_within_its_bound_is_whole(alice: Customer, upstream: Upstream) -> None:
    words = "Donaudampfschifffahrtsgesellschaft " * 100
    end = chunks.finish(usage=chunks.usage(completion=1_000))
    upstream.answer = Answer([chunks.text(words), end, chunks.DONE])
    assert texts(alice.chat(stream=True, max_tokens=1_000).text) == words


@pytest.mark.parametrize("vector", [[0.5], [0.5] * 1535, [0.5] * 3072, []])
def test_a_vector_of_another_length_is_none_of_the_model(
    alice: Customer, upstream: Upstream, vector: list[float]
) -> None:
    body = {"data": [{"embedding": vector, "index": 0}]}
    upstream.answer = Answer([json.dumps(body).encode()], content_type=JSON)
    refusal(alice.embed(model=EMBEDDING), 502, "upstream_error")
    alice.assert_nothing_billed()


@pytest.mark.parametrize(
    "data",
    [
        PNG + b"<script>alert(1)</script>",
        PNG,
        b"\xff\xd8\xff\xe0" + bytes(100),
        b"RIFF\0\0\0\0WEBPVP8 ",
        a_picture()[:-40],
    ],
    ids=["script", "nothing", "jpeg", "webp", "half"],
)
def test_what_cannot_be_decoded_is_no_picture(
    alice: Customer, upstream: Upstream, data: bytes
) -> None:
    body = {"data": [{"b64_json": base64.b64encode(data).decode()}]}
    upstream.answer = Answer([json.dumps(body).encode()], content_type=JSON)
    refusal(alice.draw(), 502, "upstream_error")
    alice.assert_nothing_billed()


def test_a_picture_is_kept_as_it_came(alice: Customer, upstream: Upstream) -> None:
    picture = a_picture()
    body = {"data": [{"b64_json": base64.b64encode(picture).decode()}]}
    upstream.answer = Answer([json.dumps(body).encode()], content_type=JSON)
    url = alice.draw().json()["data"][0]["url"]
    path = "/files/" + url.partition("/files/")[2]
    assert alice.http.get(path).content == picture
