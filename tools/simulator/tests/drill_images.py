"""OpenAI's, xAI's and Gemini's pictures, each in the provider's own form."""

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from google import genai
from google.genai import types

from simulator.tests import png
from simulator.tests.conftest import Caller
from simulator.tests.openai_client import client_of

GEMINI = "gemini-nano-banana-2.1"
PICTURE = types.GenerateContentConfig(response_modalities=["IMAGE"])


@pytest.fixture
def google(caller: Caller) -> Iterator[genai.Client]:
    url = f"{caller.simulator.url}/google"
    options = types.HttpOptions(base_url=url, api_version="v1beta")
    with genai.Client(api_key="alice", http_options=options) as client:
        yield client


def post(caller: Caller, provider: str, **fields: object) -> httpx.Response:
    url = caller.simulator.base_url(provider) + "/images/generations"
    body = {"model": "an-image-model", "prompt": caller.prompt()} | fields
    return caller.http.post(url, json=body)


def generate(caller: Caller, **config: object) -> httpx.Response:
    """A call of Gemini as bytes."""
    url = f"{caller.simulator.url}/google/v1beta/models/{GEMINI}:generateContent"
    generation = {"responseModalities": ["IMAGE"], "imageConfig": config}
    contents = [{"parts": [{"text": caller.prompt()}]}]
    body = {"contents": contents, "generationConfig": generation}
    return caller.http.post(url, json=body, headers={"x-goog-api-key": "alice"})


def inline(answer: types.GenerateContentResponse) -> list[tuple[bool, bytes]]:
    """The pictures of an answer, and whether they are thoughts."""
    found = [(bool(part.thought), part.inline_data) for part in answer.parts or []]
    return [(thought, blob.data or b"") for thought, blob in found if blob is not None]


def test_openai_sends_pictures_in_the_answer(caller: Caller) -> None:
    answer = client_of(caller).images.generate(
        model="gpt-image-2.5-flare", prompt=caller.prompt(), n=2, size="1536x1024", quality="low"
    )
    pictures = [b64decode(item.b64_json or "") for item in answer.data or []]
    assert [png.size(picture) for picture in pictures] == [(1536, 1024)] * 2
    assert pictures[0] != pictures[1]
    assert (answer.size, answer.quality, answer.output_format) == ("1536x1024", "low", "png")
    assert answer.usage is not None
    assert answer.usage.input_tokens == caller.entry()["prompt_tokens"]
    assert answer.usage.output_tokens == 2 * 196 * 3 // 2


def test_the_journal_tells_what_was_made(caller: Caller) -> None:
    post(caller, "openai", n=3, size="1024x1536", quality="high")
    entry = caller.entry()
    assert entry["kind"] == "images"
    assert (entry["images"], entry["images_emitted"]) == (3, 3)
    assert (entry["size"], entry["quality"]) == ("1024x1536", "high")
    assert entry["user_text"].startswith("Name a city.")
    assert entry["outcome"] == "completed"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"response_format": "b64_json"}, "unknown_parameter"),
        ({"style": "vivid"}, "unknown_parameter"),
        ({"quality": "standard"}, "invalid_value"),
        ({"size": "1000x1000"}, "invalid_value"),
        ({"size": "4096x1024"}, "invalid_value"),
        ({"size": "64x1024"}, "invalid_value"),
        ({"size": "large"}, "invalid_value"),
        ({"n": 0}, "invalid_value"),
        ({"n": 11}, "invalid_value"),
        ({"prompt": ""}, "invalid_value"),
        ({"prompt": "a" * 32_001}, "invalid_value"),
    ],
)
def test_openai_refuses_what_its_models_do_not_take(
    caller: Caller, fields: dict[str, Any], code: str
) -> None:
    answer = post(caller, "openai", **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize("option", ["blocked", "refusal"])
def test_openai_refuses_what_moderation_stops(caller: Caller, option: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client_of(caller).images.generate(model="m", prompt=caller.prompt(**{option: True}))
    assert caught.value.code == "moderation_blocked"
    assert caller.entry()["images_emitted"] == 0


def test_xai_tells_addresses_unless_bytes_are_asked_for(caller: Caller) -> None:
    fields = {"aspect_ratio": "3:2", "resolution": "2k", "quality": "low"}
    (image,) = post(caller, "xai", **fields).json()["data"]
    assert caller.entry()["images_emitted"] == 0
    fetched = httpx.get(image["url"])
    assert fetched.headers["content-type"] == image["mime_type"] == "image/png"
    assert caller.entry()["images_emitted"] == 1
    assert caller.entry()["quality"] == "2k low"
    width, height = png.size(fetched.content)
    assert width / height == pytest.approx(3 / 2, rel=0.02)
    assert width * height == pytest.approx(2048**2, rel=0.02)


def test_xai_sends_bytes_if_asked_for(caller: Caller) -> None:
    answer = post(caller, "xai", n=2, response_format="b64_json").json()
    pictures = [b64decode(item["b64_json"]) for item in answer["data"]]
    assert [png.size(picture) for picture in pictures] == [(1024, 1024)] * 2
    assert all(item["respect_moderation"] for item in answer["data"])
    assert caller.entry()["images_emitted"] == 2
    assert answer["usage"]["cost_in_usd_ticks"] == 1_200_000_000


@pytest.mark.parametrize(
    "fields", [{"size": "1024x1024"}, {"style": "vivid"}, {"quality": "high"}, {"n": 11}]
)
def test_xai_refuses_what_it_does_not_take(caller: Caller, fields: dict[str, Any]) -> None:
    answer = post(caller, "xai", **fields)
    assert answer.status_code == 400
    assert answer.json().keys() == {"code", "error"}


def test_xai_withholds_what_moderation_stops(caller: Caller) -> None:
    assert post(caller, "xai", prompt=caller.prompt(blocked=True)).status_code == 400
    answer = post(caller, "xai", prompt=caller.prompt(refusal=True)).json()
    assert answer["data"] == [
        {"mime_type": "image/png", "revised_prompt": "", "respect_moderation": False}
    ]


def test_an_address_takes_no_key(caller: Caller) -> None:
    (image,) = post(caller, "xai").json()["data"]
    assert caller.http.get(image["url"]).status_code == 400


def test_a_picture_can_be_missing_at_its_address(caller: Caller) -> None:
    (image,) = post(caller, "xai", prompt=caller.prompt(missing=True)).json()["data"]
    assert httpx.get(image["url"]).status_code == 404
    assert httpx.get(f"{caller.simulator.url}/_pictures/none.png").status_code == 404


def test_gemini_sends_a_draft_and_then_the_picture(caller: Caller, google: genai.Client) -> None:
    answer = google.models.generate_content(
        model=GEMINI,
        contents=caller.prompt(),
        config=types.GenerateContentConfig(
            response_modalities=["IMAGE"],
            image_config=types.ImageConfig(aspect_ratio="3:2", image_size="2K"),
        ),
    )
    (is_draft, draft), (is_thought, picture) = inline(answer)
    assert (is_draft, is_thought) == (True, False)
    assert png.size(draft) == png.size(picture) == (2528, 1696)
    assert draft != picture
    usage = answer.usage_metadata
    assert usage is not None
    assert usage.candidates_token_count == 1680
    assert caller.entry()["kind"] == "images"
    assert (caller.entry()["images"], caller.entry()["images_emitted"]) == (1, 1)
    assert (caller.entry()["size"], caller.entry()["quality"]) == ("2528x1696", "2K")


def test_a_gemini_that_thinks_the_least_makes_no_drafts(
    caller: Caller, google: genai.Client
) -> None:
    least = types.ThinkingConfig(thinking_level=types.ThinkingLevel.MINIMAL)
    config = types.GenerateContentConfig(response_modalities=["IMAGE"], thinking_config=least)
    answer = google.models.generate_content(model=GEMINI, contents="A fox", config=config)
    assert [thought for thought, _ in inline(answer)] == [False]
    steered = caller.prompt(drafts=3)
    answer = google.models.generate_content(model=GEMINI, contents=steered, config=config)
    assert [thought for thought, _ in inline(answer)] == [True, True, True, False]


@pytest.mark.parametrize("config", [{"imageSize": "512"}, {"aspectRatio": "7:5"}, {"n": 2}])
def test_gemini_refuses_what_it_does_not_make(caller: Caller, config: dict[str, Any]) -> None:
    answer = generate(caller, **config)
    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ({"refusal": True}, "IMAGE_SAFETY"),
        ({"pictures": 0}, "NO_IMAGE"),
        ({"pictures": 0, "finish": "IMAGE_OTHER"}, "IMAGE_OTHER"),
    ],
)
def test_gemini_says_why_there_is_no_picture(
    caller: Caller, google: genai.Client, option: dict[str, Any], reason: str
) -> None:
    steered = caller.prompt(**option)
    answer = google.models.generate_content(model=GEMINI, contents=steered, config=PICTURE)
    assert answer.candidates is not None
    assert answer.candidates[0].finish_reason == reason
    assert inline(answer) == []
    assert caller.entry()["images_emitted"] == 0


def test_gemini_can_block_the_prompt_of_a_picture(caller: Caller, google: genai.Client) -> None:
    steered = caller.prompt(blocked=True)
    answer = google.models.generate_content(model=GEMINI, contents=steered, config=PICTURE)
    assert answer.candidates is None
    assert answer.prompt_feedback is not None
    assert answer.prompt_feedback.block_reason == types.BlockedReason.IMAGE_SAFETY


def test_fewer_pictures_can_come_than_were_asked_for(caller: Caller) -> None:
    answer = post(caller, "openai", prompt=caller.prompt(pictures=2), n=4).json()
    assert len(answer["data"]) == 2
    assert caller.entry()["images_emitted"] == 2


def test_all_calls_of_a_marker_share_the_pictures_wished_for(
    caller: Caller, google: genai.Client
) -> None:
    steered = caller.prompt(pictures=2)
    answers = [
        google.models.generate_content(model=GEMINI, contents=steered, config=PICTURE)
        for _ in range(3)
    ]
    assert [bool(inline(answer)) for answer in answers] == [True, True, False]


def test_pictures_can_be_spoilt(caller: Caller) -> None:
    def image(**options: object) -> str:
        answer = post(caller, "openai", prompt=caller.prompt(**options)).json()
        text: str = answer["data"][0]["b64_json"]
        return text

    with pytest.raises(binascii.Error):
        b64decode(image(bad_b64=True), validate=True)
    assert b64decode(image(no_picture=True)) == b"This is no picture."
    assert len(b64decode(image(padding=100_000))) > 100_000


@pytest.mark.parametrize(
    "provider", [pytest.param("openai", id="openai"), pytest.param("xai", id="xai")]
)
def test_pictures_can_fail_in_all_the_ways(caller: Caller, provider: str) -> None:
    refused = post(caller, provider, prompt=caller.prompt(status=429, retry_after=2))
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    hidden = post(caller, provider, prompt=caller.prompt(error_in_200=True))
    assert (hidden.status_code, "error" in hidden.json()) == (200, True)
    with pytest.raises(httpx.ReadError):
        post(caller, provider, prompt=caller.prompt(drop=True))
    with pytest.raises(ValueError, match="column"):
        post(caller, provider, prompt=caller.prompt(bad_json=True)).json()
    calls = caller.simulator.calls(caller.marker)
    assert [call["outcome"] for call in calls] == ["refused", "error_in_200", "drop", "bad_json"]
    assert {call["images_emitted"] for call in calls} == {0}
