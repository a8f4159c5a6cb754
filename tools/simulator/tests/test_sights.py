"""The simulator sees the size and the colour of pictures, on every wire."""

import base64
import io
from typing import Any

import pytest
from PIL import Image

from simulator import sights
from simulator.sights import Sight
from simulator.tests.conftest import Caller

SENTENCE = "The picture is 64 x 48 pixels and mostly red."


def picture(colour: str = "red", size: tuple[int, int] = (64, 48), form: str = "PNG") -> str:
    """A picture in base64."""
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, form)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
@pytest.mark.parametrize(
    "colour", ["red", "orange", "yellow", "green", "blue", "purple", "white", "black", "grey"]
)
def test_the_size_and_the_colour_are_seen(form: str, colour: str) -> None:
    assert sights.see(picture(colour, form=form)) == Sight(64, 48, colour)


@pytest.mark.parametrize(
    ("size", "tokens"), [((1, 1), 1), ((64, 64), 2), ((640, 480), 64), ((4000, 3000), 64)]
)
def test_tokens_grow_with_the_pixels_to_a_bound(size: tuple[int, int], tokens: int) -> None:
    assert Sight(*size, "red").tokens == tokens


def test_what_is_no_picture_is_not_seen() -> None:
    no_picture = base64.b64encode(b"no picture").decode()
    for encoded in ("%", no_picture, picture()[:60], picture(size=(10_000, 5_001))):
        with pytest.raises(sights.Unseen):
            sights.see(encoded)
    with pytest.raises(sights.Unseen):
        sights.see_url("https://example.com/a.png")


def openai(data: str) -> list[dict[str, Any]]:
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    return [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, part]}]


def after_a_call(data: str) -> list[dict[str, Any]]:
    function = {"name": "draw", "arguments": "{}"}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return [
        {"role": "user", "content": "Draw it."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": "Done."},
        *openai(data),
    ]


def test_a_picture_is_described_and_counted_on_openais_wire(caller: Caller) -> None:
    answer = caller.post({"model": "m", "messages": openai(picture())}).json()
    assert answer["choices"][0]["message"]["content"] == SENTENCE
    assert answer["usage"]["prompt_tokens"] == 3 + 4 + 1
    refused = caller.post({"model": "m", "messages": openai("no picture")})
    assert refused.status_code == 400
    assert caller.post({"model": "m", "messages": openai(picture())}, "deepseek").status_code == 400


@pytest.mark.parametrize(
    ("question", "is_described"), [("Is the picture red?", True), ("How are you?", False)]
)
def test_a_later_question_about_the_picture_is_answered(
    caller: Caller, question: str, is_described: bool
) -> None:
    later = [{"role": "assistant", "content": "Ok."}, {"role": "user", "content": question}]
    answer = caller.post({"model": "m", "messages": [*openai(picture()), *later]}).json()
    assert (answer["choices"][0]["message"]["content"] == SENTENCE) == is_described


def test_pictures_right_after_results_belong_to_them(caller: Caller) -> None:
    answer = caller.post({"model": "m", "messages": after_a_call(picture())}).json()
    assert answer["choices"][0]["message"]["content"] == f"draw says: Done.\n{SENTENCE}"


@pytest.mark.parametrize("in_result", [False, True])
def test_a_picture_is_described_on_anthropics_wire(caller: Caller, in_result: bool) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": picture()}
    image = {"type": "image", "source": source}
    call = {"type": "tool_use", "id": "toolu_1", "name": "draw", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [image]}
    messages: list[dict[str, Any]] = [{"role": "user", "content": [image]}]
    if in_result:
        messages = [
            {"role": "user", "content": "Draw it."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    body = {
        "model": "claude-haiku-5-5",
        "max_tokens": 100,
        "messages": messages,
        "tools": [{"name": "draw", "input_schema": {"type": "object"}}],
    }
    headers = {"x-api-key": "alice", "anthropic-version": "2023-06-01"}
    url = f"{caller.simulator.url}/anthropic/v1/messages"
    answer = caller.http.post(url, json=body, headers=headers).json()
    assert SENTENCE in answer["content"][0]["text"]


@pytest.mark.parametrize("in_result", [False, True])
def test_a_picture_is_described_on_geminis_wire(caller: Caller, in_result: bool) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": picture()}}
    call = {
        "functionCall": {"name": "draw"},
        "thoughtSignature": "skip_thought_signature_validator",
    }
    result = {"functionResponse": {"name": "draw", "response": {}, "parts": [image]}}
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [image]}]
    if in_result:
        contents = [
            {"role": "user", "parts": [{"text": "Draw it."}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [result]},
        ]
    url = f"{caller.simulator.url}/google/v1beta/models/gemini-3.8-flash:generateContent"
    answer = caller.http.post(url, json={"contents": contents}, headers={"x-goog-api-key": "alice"})
    assert SENTENCE in answer.json()["candidates"][0]["content"]["parts"][0]["text"]
