"""Pictures in a chat request: the model sees them, or nothing is held."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from common.tests.upstream import Answer, Upstream
from media.probe.tests.samples import picture
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.test_chat_stream import chunks

PNG = picture("PNG", (320, 200))
SEEN = "The picture is 320 x 200 pixels and mostly turquoise."
# A model that sees nothing.
BLIND = "deepseek-v4-pro"


@pytest.fixture
def viewer(customer: NewCustomer) -> Customer:
    """Alice, with a key for pictures."""
    return customer(features=("vision",))


def data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def show(
    viewer: Customer,
    *urls: str,
    text: str | None = None,
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> httpx.Response:
    """A question about pictures."""
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    question = {"type": "text", "text": viewer.prompt("What is this?") if text is None else text}
    content = [question, *shown]
    body = {"model": IN_PLAN, "messages": [{"role": "user", "content": content}], **fields}
    return viewer.post(json=body, headers=headers or {})


@pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_model_sees_a_picture(viewer: Customer, model: str, stream: bool) -> None:
    response = show(viewer, data_url(PNG), model=model, stream=stream)
    assert response.status_code == 200, response.text
    assert "x-ignored-parameters" not in response.headers
    if stream:
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks(response)]
        text = "".join(delta.get("content", "") for delta in deltas)
    else:
        text = response.json()["choices"][0]["message"]["content"]
    assert SEEN in text
    assert viewer.charge().status == "settled"


def test_a_picture_alone_is_a_question(viewer: Customer) -> None:
    assert SEEN in show(viewer, data_url(PNG), text="").text


BAD = {
    "cut off": (data_url(picture("JPEG", (400, 300))[:600]), "It cannot be decoded."),
    "another type": ("data:text/html;base64,PGI+", "This is no PNG, JPEG, WebP or GIF picture."),
    "too wide": (
        data_url(PNG[:16] + (30_000).to_bytes(4) + PNG[20:]),
        "This picture has 30,000 x 200 pixels.",
    ),
    "inside": ("https://169.254.169.254/latest/meta-data", "is not an address that can be called"),
    "no address": ("picture.png", "Send a picture as a data URL"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_picture_is_refused_before_anything_is_held(viewer: Customer, name: str) -> None:
    url, problem = BAD[name]
    response = show(viewer, data_url(PNG), url)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "invalid_body")
    assert error["param"] == "messages[0].content[2].image_url.url"
    assert problem in error["message"]
    assert viewer.charges() == []
    assert viewer.provider_calls() == []


def test_a_model_that_sees_nothing_is_shown_nothing(viewer: Customer) -> None:
    response = show(viewer, data_url(PNG), model=BLIND)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "unsupported_parameter")
    assert viewer.charges() == []


def test_a_type_that_a_provider_does_not_take_is_refused_before_anything_is_held(
    viewer: Customer,
) -> None:
    gif = f"data:image/gif;base64,{base64.b64encode(picture('GIF')).decode()}"
    assert show(viewer, gif, model="claude-haiku-5-5").status_code == 200
    response = show(viewer, gif, model="gemini-3.8-flash")
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "unsupported_parameter")
    assert len(viewer.charges()) == 1


@pytest.fixture
async def host() -> AsyncIterator[Upstream]:
    """Another host, which answers with a picture."""
    async with Upstream() as host:
        host.answer = Answer([PNG], content_type="image/png")
        yield host


async def test_a_picture_at_an_address_is_fetched_by_us_once(
    viewer: Customer, host: Upstream
) -> None:
    url = f"{host.url}/a.png?signature=hidden"
    response = await asyncio.to_thread(show, viewer, url, url)
    assert response.text.count(SEEN) == 2
    [call] = host.calls
    assert (call.method, call.path) == ("GET", "/v1/a.png?signature=hidden")
    assert viewer.raw_key not in str(call)


async def test_an_address_without_a_picture_costs_nothing(viewer: Customer, host: Upstream) -> None:
    host.answer = Answer([b"words"], status=404, content_type="text/plain")
    response = await asyncio.to_thread(show, viewer, f"{host.url}/a.png")
    assert response.json()["error"] == {
        "message": "The picture's address answered with status 404.",
        "type": "invalid_request_error",
        "code": "invalid_body",
        "param": "messages[0].content[1].image_url.url",
    }
    assert await asyncio.to_thread(viewer.charges) == []


async def test_an_answered_request_is_answered_again_although_its_picture_is_gone(
    viewer: Customer, host: Upstream
) -> None:
    headers = {"Idempotency-Key": "sea-1"}
    question: dict[str, Any] = {"text": viewer.prompt("What is this?"), "headers": headers}
    first = await asyncio.to_thread(show, viewer, f"{host.url}/a.png", **question)
    host.answer = Answer([b"gone"], status=410, content_type="text/plain")

    again = await asyncio.to_thread(show, viewer, f"{host.url}/a.png", **question)
    other = await asyncio.to_thread(show, viewer, f"{host.url}/b.png", **question)

    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
    assert other.status_code == 422
    assert len(await asyncio.to_thread(viewer.charges)) == 1
