"""Pictures that are made of other pictures, against the simulator: it shows what it was given."""

import io
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image as Pillow

from ai.providers.errors import RequestRefused
from ai.providers.registry import get_image_wire
from ai.providers.types import Deadlines, Image, ImageRequest
from simulator.tests import film

from .studio import Studio, picture_of

PATIENT = Deadlines(connect=2.0, total=20.0)
MODELS = {
    "openai": "gpt-image-2.5-flare",
    "xai": "grok-imagine-image-2.0",
    "google": "gemini-nano-banana-2.1",
    "bfl": "flux-2-pro",
}
RED, GREEN = (255, 0, 0), (0, 255, 0)
every_provider = pytest.mark.parametrize("provider", MODELS)


class Editor:
    """Draws at the simulator."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    async def draw(self, provider: str, n: int = 1, **fields: Any) -> list[Image]:
        wire = get_image_wire(provider)
        assert wire is not None
        prompt = self._studio.prompt(polls=0)
        request = ImageRequest(MODELS[provider], prompt, n, "1024x1024", "low")
        return await wire.generate(replace(request, **fields), PATIENT)

    def calls(self) -> list[dict[str, Any]]:
        return self._studio.calls()


@pytest.fixture
def editor(studio: Studio) -> Editor:
    return Editor(studio)


def corners(picture: Image, count: int) -> list[tuple[int, int, int]]:
    """The colours in the lower left corners of as many equal parts as there were references."""
    with Pillow.open(io.BytesIO(picture.data)) as image:
        return [
            film.colour(image, (number * image.width // count + 8, image.height - 8))
            for number in range(count)
        ]


@every_provider
async def test_a_picture_is_made_of_others(editor: Editor, provider: str) -> None:
    references = (picture_of(RED), picture_of(GREEN, "WEBP"), picture_of(GREEN, "JPEG"))
    (made,) = await editor.draw(provider, references=references)
    red, *greens = corners(made, 3)
    assert red == pytest.approx(RED, abs=8)
    assert greens == [pytest.approx(GREEN, abs=8)] * 2
    assert editor.calls()[0]["references"] == 3


@every_provider
async def test_several_pictures_are_made_of_one(editor: Editor, provider: str) -> None:
    made = await editor.draw(provider, 2, references=(picture_of(RED),))
    assert len({picture.data for picture in made}) == 2
    assert [corners(picture, 1) for picture in made] == [[pytest.approx(RED, abs=8)]] * 2


@every_provider
async def test_what_is_no_picture_is_refused(editor: Editor, provider: str) -> None:
    with pytest.raises(RequestRefused):
        await editor.draw(provider, references=(Image(b"no picture", "image/png"),))


@pytest.mark.parametrize("provider", ["google", "bfl"])
async def test_a_seed_is_taken_by_who_has_one(editor: Editor, provider: str) -> None:
    assert len(await editor.draw(provider, 2, seed=0)) == 2


@pytest.mark.parametrize(
    ("provider", "fields", "word"),
    [
        *((provider, {"negative_prompt": "a wolf"}, "negative prompt") for provider in MODELS),
        ("openai", {"seed": 0}, "seed"),
        ("xai", {"seed": 0}, "seed"),
    ],
)
async def test_what_a_provider_does_not_take_is_refused_and_not_left_out(
    editor: Editor, provider: str, fields: dict[str, Any], word: str
) -> None:
    with pytest.raises(RequestRefused, match=word):
        await editor.draw(provider, **fields)
    assert editor.calls() == []
