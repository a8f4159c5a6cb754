"""The tokens of the pictures that a model looks at, by the formulas that the providers publish.

Most models cut a picture into square patches and make a token of each, after they have reduced it
to what they take at most; some count tiles with a fixed number of tokens. A provider's models
differ, so a bound is that of its hungriest one in use.

- OpenAI ("Images and vision"): patches of 32 pixels, 1.2 tokens each; of older small models up to
  2.46, but then 1,536 patches at most. `high` has 2,500 patches, `auto` 10,000 and with GPT-6 more,
  `low` a picture of 512 pixels.
- Anthropic ("Vision"): patches of 28 pixels, which the pages before told as pixels / 750; up to
  2,576 pixels a side and 4,784 tokens.
- Google ("Media resolution"): up to 1,120 tokens a picture where nothing else is asked for.
- xAI ("Image understanding"): 256 tokens for each of up to six tiles of 448 pixels, and for the
  whole.
- Mistral ("Vision"): patches of 28 pixels, up to 1,540 pixels a side, and a mark for each row;
  Pixtral has patches of 16 pixels, up to 1,024.
- Moonshot (the preprocessor of Kimi K2.5): patches of 28 pixels, up to 4,096.
- Qwen ("Visual understanding"): patches of 28 pixels, since Qwen3-VL of 32; up to 16,384 tokens,
  and 2,560 where no high resolution is asked for.
- Together ("Vision"): 1,601 tokens for each of up to 2 x 2 tiles of 560 pixels.

Elsewhere any open model may answer: patches of 28 pixels without a limit, and at least what a
Llama with vision, or Together, may count.
"""

from collections.abc import Callable, Mapping

from ai.providers.types import InputImage

# Tokens that open and close a picture in a prompt.
_MARKS = 8
_LLAMA_TILE = 1_601
_LLAMA_MOST = 4 * _LLAMA_TILE

_OPENAI_PATCHES = {"low": 16 * 16, "high": 2_500, "auto": 10_000}

Formula = Callable[[InputImage], int]


def image_upper_bound(provider: str, image: InputImage) -> int:
    """An upper bound of the provider's count for a picture, whatever its detail."""
    return _BOUNDS.get(provider, _any_bound)(image) + _MARKS


def estimate_image(provider: str, image: InputImage) -> int:
    """An estimate of the provider's count for a picture, at most its upper bound."""
    tokens = _ESTIMATES.get(provider, _any_estimate)(image)
    return min(tokens, image_upper_bound(provider, image))


def _grid(image: InputImage, side: int) -> int:
    """The squares with sides of so many pixels that cover a picture."""
    return -(-image.width // side) * -(-image.height // side)


def _rows(image: InputImage, side: int) -> int:
    """The same squares, and one more in each row."""
    return _grid(image, side) + -(-image.height // side)


def _hundredths(patches: int, tokens: int) -> int:
    """The tokens of patches with so many hundredths of a token each."""
    return -(-patches * tokens // 100)


def _openai_bound(image: InputImage) -> int:
    patches = _grid(image, 32)
    return max(_hundredths(patches, 120), _hundredths(min(patches, 1_536), 246))


def _openai_estimate(image: InputImage) -> int:
    return _hundredths(min(_grid(image, 32), _OPENAI_PATCHES[image.detail]), 120)


def _anthropic_bound(image: InputImage) -> int:
    return min(max(_grid(image, 28), -(-image.width * image.height // 750)), 4_784)


def _google(_image: InputImage) -> int:
    return 1_120


def _xai(image: InputImage) -> int:
    return 256 * (1 + min(_grid(image, 448), 6))


def _together(image: InputImage) -> int:
    return _LLAMA_TILE * (1 + (image.width >= 560)) * (1 + (image.height >= 560))


def _any_bound(image: InputImage) -> int:
    return max(_grid(image, 28), _LLAMA_MOST)


def _any_estimate(image: InputImage) -> int:
    return min(_grid(image, 28), 4_096)


_BOUNDS: Mapping[str, Formula] = {
    "openai": _openai_bound,
    "anthropic": _anthropic_bound,
    "google": _google,
    "xai": _xai,
    "mistral": lambda image: min(_rows(image, 16), 64 * 65),
    "moonshot": lambda image: min(_grid(image, 28), 4_096),
    "qwen": lambda image: min(_grid(image, 28), 16_384),
}
_ESTIMATES: Mapping[str, Formula] = {
    "openai": _openai_estimate,
    "anthropic": lambda image: min(_grid(image, 28), 4_784),
    "google": _google,
    "xai": _xai,
    "mistral": lambda image: min(_rows(image, 28), 55 * 56),
    "qwen": lambda image: min(_grid(image, 32), 2_560),
    "together": _together,
}
