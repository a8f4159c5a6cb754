"""The tokens of pictures: bounds that no count exceeds, and estimates near to counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.providers.config import PROVIDERS
from ai.providers.image_tokens import estimate_image, image_upper_bound
from ai.providers.types import ImageDetail, InputImage

CHAT = [name for name, known in PROVIDERS.items() if known.wire] + ["local"]


def picture(width: int, height: int, detail: ImageDetail = "auto") -> InputImage:
    return InputImage(b"", "image/png", width, height, detail)


@given(
    provider=st.sampled_from(CHAT),
    width=st.integers(1, 16_384),
    height=st.integers(1, 16_384),
    detail=st.sampled_from(["auto", "low", "high"]),
)
def test_an_estimate_is_positive_and_under_the_bound(
    provider: str, width: int, height: int, detail: ImageDetail
) -> None:
    image = picture(width, height, detail)
    assert 1 <= estimate_image(provider, image) <= image_upper_bound(provider, image)


@given(provider=st.sampled_from(CHAT), width=st.integers(1, 9_000), height=st.integers(1, 9_000))
def test_a_larger_picture_has_no_smaller_bound(provider: str, width: int, height: int) -> None:
    smaller = image_upper_bound(provider, picture(width, height))
    assert smaller <= image_upper_bound(provider, picture(width + 500, height + 500))


# Counts that were told by the providers' interfaces, without the tokens of the text beside.
COUNTED = [
    ("openai", 256, 256, "auto", 77),
    ("openai", 512, 512, "auto", 308),
    ("openai", 1_024, 1_024, "auto", 1_229),
    ("openai", 1_920, 1_080, "auto", 2_448),
    ("openai", 3_840, 2_160, "auto", 9_792),
    ("openai", 4_032, 3_024, "high", 2_942),
    ("anthropic", 256, 256, "auto", 100),
    ("anthropic", 1_024, 1_024, "auto", 1_369),
    ("anthropic", 1_920, 1_080, "auto", 2_691),
    ("google", 256, 256, "auto", 1_090),
    ("google", 4_032, 3_024, "auto", 1_065),
]


@pytest.mark.parametrize(("provider", "width", "height", "detail", "tokens"), COUNTED)
def test_an_estimate_is_near_what_was_counted(
    provider: str, width: int, height: int, detail: ImageDetail, tokens: int
) -> None:
    image = picture(width, height, detail)
    assert estimate_image(provider, image) == pytest.approx(tokens, rel=0.06)
    assert tokens <= image_upper_bound(provider, image)


# What GPT-6 counts of a large picture, and small models of OpenAI at their limit.
@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(4_032, 3_024, 14_364), (2_048, 768, 3_779), (512, 512, 630)]
)
def test_the_bound_is_that_of_the_provider_s_hungriest_model(
    width: int, height: int, tokens: int
) -> None:
    assert tokens <= image_upper_bound("openai", picture(width, height)) <= tokens + 8


@pytest.mark.parametrize(
    ("provider", "tokens"),
    [
        ("anthropic", 4_784),
        ("google", 1_120),
        ("xai", 1_792),
        ("mistral", 4_160),
        ("moonshot", 4_096),
        ("qwen", 16_384),
    ],
)
def test_a_provider_reduces_pictures_that_are_too_large(provider: str, tokens: int) -> None:
    assert image_upper_bound(provider, picture(12_000, 9_000)) == tokens + 8


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(559, 559, 1_601), (560, 559, 3_202), (560, 560, 6_404)]
)
def test_together_counts_four_tiles_at_most(width: int, height: int, tokens: int) -> None:
    assert estimate_image("together", picture(width, height)) == tokens


def test_a_low_detail_is_estimated_as_one_where_the_provider_has_it() -> None:
    assert estimate_image("openai", picture(4_000, 3_000, "low")) == 308
