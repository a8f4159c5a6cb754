"""The splitter gives the same events however the network cuts the bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.providers.errors import UpstreamError
from ai.providers.sse import MAX_EVENT, SseSplitter

LINES = st.sampled_from(
    [
        "data: {}",
        "data:x",
        "data: é€😀",
        "data:",
        "data",
        ": keep-alive",
        "event: ping",
        "id: 7",
        "",
    ]
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])
# Some servers begin with a byte order mark, which is no part of the first event.
STREAMS = st.builds(
    lambda mark, lines: (mark + "".join(line + newline for line, newline in lines)).encode(),
    st.sampled_from(["", "\ufeff"]),
    st.lists(st.tuples(LINES, NEWLINES)),
)


def split(chunks: list[bytes]) -> list[bytes]:
    splitter = SseSplitter()
    payloads = [payload for chunk in chunks for payload in splitter.feed(chunk)]
    return payloads + splitter.flush()


def by_the_book(stream: bytes) -> list[bytes]:
    """The standard's algorithm, line by line, on the whole stream at once."""
    text = stream.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    payloads, data = [], list[str]()
    for line in [*text.split("\n"), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line == "data":
            data.append("")
        elif not line:
            payloads.append("\n".join(data).encode())
            data = []
    return [payload for payload in payloads if payload]


@given(STREAMS, st.data())
def test_any_cut_gives_the_events_of_the_standard(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    bounds = [0, *cuts, len(stream)]
    chunks = [stream[a:b] for a, b in pairwise(bounds)]
    assert split(chunks) == by_the_book(stream)


def test_an_event_is_out_as_soon_as_its_blank_line_is_in() -> None:
    splitter = SseSplitter()
    assert splitter.feed(b"data: one\n\ndata: tw") == [b"one"]
    assert splitter.feed(b"o\n") == []
    assert splitter.feed(b"\n") == [b"two"]


def test_a_byte_order_mark_loses_nothing() -> None:
    assert split([b"\xef", b"\xbb\xbfdata: {}\n\n", b"data: \xef\xbb\xbf\n\n"]) == [
        b"{}",
        b"\xef\xbb\xbf",
    ]


def test_lines_of_one_event_are_joined() -> None:
    assert split([b"data: one\ndata: two\n\n"]) == [b"one\ntwo"]


def test_comments_and_other_fields_carry_nothing() -> None:
    assert split([b": hello\n\nevent: x\nid: 3\nretry: 9\n\ndata: y\n\n"]) == [b"y"]


@pytest.mark.parametrize("end", [b"", b"\n\n"])
def test_an_event_over_the_limit_is_refused(end: bytes) -> None:
    splitter = SseSplitter()
    splitter.feed(b"data: " + b"x" * (MAX_EVENT - 10))
    with pytest.raises(UpstreamError):
        splitter.feed(b"x" * 20 + end)


def test_many_small_events_are_no_large_one() -> None:
    assert len(split([b"data: x\n\n" * 200_000])) == 200_000
