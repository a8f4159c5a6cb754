"""Pictures that are made of other pictures: all four wires show what they were given."""

import io
from base64 import b64decode, b64encode
from typing import Any

import httpx
import openai
import pytest
from google import genai
from google.genai import types
from PIL import Image

from simulator.tests import film
from simulator.tests.conftest import Caller
from simulator.tests.openai_client import client_of

RED, GREEN = (255, 0, 0), (0, 255, 0)
GEMINI = "gemini-nano-banana-2.1"
MODEL = "gpt-image-2.5-flare"


def picture(colour: tuple[int, int, int], form: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (64, 64), colour).save(file, form)
    return file.getvalue()


def data_uri(data: bytes) -> str:
    return f"data:image/png;base64,{b64encode(data).decode()}"


def shown(data: bytes, count: int) -> list[tuple[int, int, int]]:
    """The colours in the lower left corners of as many equal parts as there were references."""
    with Image.open(io.BytesIO(data)) as image:
        return [
            film.colour(image, (number * image.width // count + 8, image.height - 8))
            for number in range(count)
        ]


def test_openai_edits_a_picture(caller: Caller) -> None:
    answer = client_of(caller).images.edit(
        model=MODEL, image=picture(RED), prompt=caller.prompt(), size="1536x1024", quality="low"
    )

    (made,) = answer.data or []
    assert shown(b64decode(made.b64_json or ""), 1) == [RED]
    assert answer.usage is not None
    assert answer.usage.input_tokens_details.image_tokens > 0
    entry = caller.entry()
    assert (entry["kind"], entry["outcome"], entry["size"]) == ("images", "completed", "1536x1024")
    assert (entry["references"], entry["images"]) == (1, 1)


def test_openai_edits_several_pictures_into_several(caller: Caller) -> None:
    given = [("a.png", picture(RED)), ("b.webp", picture(GREEN, "WEBP"))]

    answer = client_of(caller).images.edit(model=MODEL, image=given, prompt=caller.prompt(), n=2)

    for made in answer.data or []:
        red, green = shown(b64decode(made.b64_json or ""), 2)
        assert red == RED
        assert green == pytest.approx(GREEN, abs=8)
    assert (caller.entry()["references"], caller.entry()["images"]) == (2, 2)


@pytest.mark.parametrize(
    "fields", [{"style": "vivid"}, {"n": "11"}, {"quality": "hd"}, {"response_format": "url"}]
)
def test_openai_refuses_a_wrong_edit(caller: Caller, fields: dict[str, str]) -> None:
    answer = caller.http.post(
        caller.simulator.base_url("openai") + "/images/edits",
        data={"model": MODEL, "prompt": "A fox"} | fields,
        files={"image[]": ("a.png", picture(RED), "image/png")},
    )

    assert answer.status_code == 400


def test_openai_refuses_an_edit_of_what_is_no_picture(caller: Caller) -> None:
    with pytest.raises(openai.BadRequestError):
        client_of(caller).images.edit(model=MODEL, image=b"no picture", prompt="A fox")


def test_openai_refuses_an_edit_of_nothing(caller: Caller) -> None:
    answer = caller.http.post(
        caller.simulator.base_url("openai") + "/images/edits",
        data={"model": MODEL, "prompt": "A fox"},
        files={"other": ("a.png", picture(RED), "image/png")},
    )

    assert answer.status_code == 400


def edit_at_xai(caller: Caller, **fields: object) -> httpx.Response:
    body = {"model": "grok-imagine-image-2.0", "prompt": caller.prompt()} | fields
    return caller.http.post(caller.simulator.base_url("xai") + "/images/edits", json=body)


def test_xai_edits_pictures(caller: Caller) -> None:
    images = [{"url": data_uri(picture(colour)), "type": "image_url"} for colour in (RED, GREEN)]

    answer = edit_at_xai(caller, images=images, response_format="b64_json").json()

    assert shown(b64decode(answer["data"][0]["b64_json"]), 2) == [RED, GREEN]
    assert caller.entry()["references"] == 2


def test_xai_edits_a_picture_of_its_own(caller: Caller) -> None:
    first = edit_at_xai(caller, image={"url": data_uri(picture(RED))}).json()

    second = edit_at_xai(caller, image={"url": first["data"][0]["url"]}).json()

    assert shown(httpx.get(second["data"][0]["url"]).content, 1) == [RED]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"image": "fox.png"},
        {"image": {"url": "data:image/png;base64,AAAA"}},
        {"image": {"url": "https://example.com/fox.png"}},
        {"images": []},
        {"size": "1024x1024"},
    ],
)
def test_xai_refuses_a_wrong_edit(caller: Caller, fields: dict[str, Any]) -> None:
    assert edit_at_xai(caller, **fields).status_code == 400


def test_gemini_edits_pictures(caller: Caller) -> None:
    url = f"{caller.simulator.url}/google"
    options = types.HttpOptions(base_url=url, api_version="v1beta")
    parts = [
        types.Part.from_bytes(data=picture(RED), mime_type="image/png"),
        types.Part.from_bytes(data=picture(GREEN), mime_type="image/png"),
        types.Part.from_text(text=caller.prompt(drafts=0)),
    ]
    with genai.Client(api_key="alice", http_options=options) as client:
        answer = client.models.generate_content(
            model=GEMINI,
            contents=types.Content(role="user", parts=parts),
            config=types.GenerateContentConfig(response_modalities=["IMAGE"]),
        )

    (made,) = answer.parts or []
    assert made.inline_data is not None
    assert shown(made.inline_data.data or b"", 2) == [RED, GREEN]
    assert caller.entry()["references"] == 2
    assert answer.usage_metadata is not None
    assert (answer.usage_metadata.prompt_token_count or 0) > caller.entry()["prompt_tokens"]


@pytest.mark.parametrize(
    "blob",
    [
        {"mimeType": "image/png", "data": "AAAA"},
        {"mimeType": "image/png"},
        {"type": "image/png", "data": "AAAA"},
    ],
)
def test_gemini_refuses_a_wrong_picture(caller: Caller, blob: dict[str, str]) -> None:
    answer = caller.http.post(
        f"{caller.simulator.url}/google/v1beta/models/{GEMINI}:generateContent",
        json={
            "contents": [{"parts": [{"inlineData": blob}, {"text": "A fox"}]}],
            "generationConfig": {"responseModalities": ["IMAGE"]},
        },
        headers={"x-goog-api-key": "alice"},
    )

    assert answer.status_code == 400


def edit_at_flux(caller: Caller, **fields: object) -> httpx.Response:
    url = f"{caller.simulator.base_url('bfl')}/flux-2-pro"
    body = {"prompt": caller.prompt(polls=0)} | fields
    return httpx.post(url, json=body, headers={"x-key": "alice"})


def test_flux_edits_up_to_eight_pictures(caller: Caller) -> None:
    colours = [RED, GREEN] * 4
    names = ["input_image", *(f"input_image_{number}" for number in range(2, 9))]
    given = {
        name: b64encode(picture(colour)).decode()
        for name, colour in zip(names, colours, strict=True)
    }

    task = edit_at_flux(caller, **given).json()

    assert (task["cost"], task["input_mp"]) == (15.0, 8.0)
    result = httpx.get(task["polling_url"]).json()
    assert shown(httpx.get(result["result"]["sample"]).content, 8) == colours
    assert caller.entry()["references"] == 8


@pytest.mark.parametrize("text", ["AAAA", "no base64!", "https://example.com/fox.png"])
def test_flux_refuses_what_is_no_picture(caller: Caller, text: str) -> None:
    assert edit_at_flux(caller, input_image=text).status_code == 400
