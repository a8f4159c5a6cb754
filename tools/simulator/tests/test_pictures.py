"""The pictures are real ones, and say what they are of."""

import time

import pytest

from simulator.pictures import Picture
from simulator.tests import png


@pytest.mark.parametrize("size", [(1024, 1024), (1536, 1024), (832, 1248), (16, 16)])
@pytest.mark.parametrize(
    "prompt", ["", "fox", "A red fox in the snow", "word " * 5000, "Füchse \0"]
)
def test_a_picture_has_the_size_that_it_says(prompt: str, size: tuple[int, int]) -> None:
    assert png.size(Picture(prompt, *size, seed="1").png()) == size


def test_pictures_differ_by_their_prompts_and_seeds() -> None:
    requests = [("A fox", "1"), ("A fox", "2"), ("An owl", "1")]
    pictures = {Picture(prompt, 64, 64, seed).png() for prompt, seed in requests}
    assert len(pictures) == len(requests)
    assert Picture("A fox", 64, 64, "1").png() in pictures


def test_a_picture_says_its_prompt() -> None:
    assert b"A red fox" in Picture("A red fox", 64, 64, "1").png()


def test_a_picture_is_made_in_no_time() -> None:
    started = time.process_time()
    for seed in "abcde":
        Picture("A red fox in the snow", 1024, 1024, seed).png()
    assert (time.process_time() - started) / 5 < 0.03
