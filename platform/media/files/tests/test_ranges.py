"""What a Range header asks for (RFC 9110, 14.1.2)."""

import pytest

from media.files.errors import RangeNotSatisfiable
from media.files.ranges import requested_span

SIZE = 1_000


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=0-499", (0, 500)),
        ("bytes=500-999", (500, 1_000)),
        ("bytes=500-", (500, 1_000)),
        ("bytes=999-", (999, 1_000)),
        ("bytes=-1", (999, 1_000)),
        ("bytes=-1000", (0, 1_000)),
        ("bytes=-5000", (0, 1_000)),
        ("bytes=900-5000", (900, 1_000)),
        (f"bytes=0-{'9' * 100}", (0, 1_000)),
        ("Bytes= 5-9 ", (5, 10)),
    ],
)
def test_one_range_is_a_part_of_the_file(header: str, span: tuple[int, int]) -> None:
    assert requested_span(header, size=SIZE) == span


@pytest.mark.parametrize(
    "header",
    [
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=5",
        "bytes=a-b",
        "bytes=9-5",
        "bytes=+1-2",
        "bytes=1.0-2",
        "bytes=\u0661-\u0662",  # digits, but not ASCII's
        "bytes=--5",
        "seconds=0-1",
        "bytes=0-1,5-9",
        "bytes=0-1, 5-9",
        "bytes=0-,-1",
        f"bytes={'9' * 5_000}-",
    ],
    ids=lambda header: header[:20],
)
def test_anything_else_is_the_whole_file(header: str) -> None:
    assert requested_span(header, size=SIZE) is None


@pytest.mark.parametrize("header", ["bytes=1000-", "bytes=1000-2000", "bytes=-0", "bytes=99999-"])
def test_what_is_outside_of_the_file_is_refused(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as refusal:
        requested_span(header, size=SIZE)
    assert refusal.value.size == SIZE


def test_an_empty_file_has_no_bytes_to_ask_for() -> None:
    assert requested_span("", size=0) is None
    for header in ("bytes=0-", "bytes=-1"):
        with pytest.raises(RangeNotSatisfiable):
            requested_span(header, size=0)
