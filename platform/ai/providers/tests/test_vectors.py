"""Vectors in base64: what they hold, and how they are shortened."""

import base64
import math
import struct

import pytest

from ai.providers.vectors import decoded, dimensions_of, encoded, shortened


def test_a_vector_is_base64_of_little_endian_floats() -> None:
    assert encoded([1.0, -2.5]) == base64.b64encode(struct.pack("<2f", 1.0, -2.5)).decode()
    assert decoded(encoded([1.0, -2.5])) == [1.0, -2.5]


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 1535, 1536, 3072])
def test_the_dimensions_of_a_vector_are_known_without_decoding_it(dimensions: int) -> None:
    assert dimensions_of(encoded([0.1] * dimensions)) == dimensions


@pytest.mark.parametrize(
    "vector",
    [
        "A",
        "AAAA",  # three bytes
        "AAAAAA",  # no padding
        "AAAAAA=A",
        "AAAAAAA=",
        "AAAA=A==",
        "AAAAAA==\n",
        "AAA-_A==",
        "AAAé_A==",
        "=" * 8,
        "AAAAAAAAAAAAAAA\0",
    ],
)
def test_what_is_not_base64_of_floats_is_told(vector: str) -> None:
    for read in (dimensions_of, decoded):
        with pytest.raises(ValueError):  # noqa: PT011 - what it says is nobody's concern
            read(vector)


def test_a_number_beyond_32_bits_is_no_vector() -> None:
    with pytest.raises(ValueError, match="too large"):
        encoded([1e39])


def test_a_shortened_vector_points_the_same_way_and_has_length_one() -> None:
    short = decoded(shortened(encoded([3.0, 4.0, 12.0]), 2))
    assert short == pytest.approx([0.6, 0.8])
    assert math.hypot(*short) == pytest.approx(1.0)


def test_a_vector_of_zeros_stays_one() -> None:
    assert decoded(shortened(encoded([0.0, 0.0, 1.0]), 2)) == [0.0, 0.0]
