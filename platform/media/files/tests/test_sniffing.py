"""What a file is, by its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.files.sniffing import Kind, sniff
from media.files.tests.forms import PNG
from media.files.types import inert_type

TEXT = Kind("text/plain", is_text=True)


def in_chunks(content: bytes, size: int) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


@pytest.mark.parametrize(
    "content",
    [
        b"plain",
        "Grüße, 世界 🌊".encode(),
        b"\xef\xbb\xbfwith a byte order mark",
        b"tabs\tlines\r\nand\x0cpages",
        b"\x1b[31mred\x1b[0m words of a terminal's",
        b"<svg><script>alert(1)</script></svg>",
        b"<!doctype html><script>alert(1)</script>",
        b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>",
        b'{"a": 1}',
        b"BM is how bitmaps begin, and this sentence",
        b"a\x01" + b"b" * 200,
    ],
    ids=repr,
)
def test_utf_8_is_text_whatever_it_says(content: bytes) -> None:
    assert sniff([content]) == TEXT


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(32), "image/jpeg"),
        (b"GIF89a" + bytes(32), "image/gif"),
        (b"RIFF\x24\0\0\0WAVEfmt " + bytes(32), "audio/x-wav"),
        (b"PK\x03\x04" + bytes(64), "application/zip"),
        (b"\x1f\x8b\x08" + bytes(32), "application/gzip"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "application/pdf"),
        (b"%PDF-1.7\nall of it could be text", "application/pdf"),
        (b"MZ\x90\0" + bytes(64), "application/x-msdownload"),
        (b"\0" * 100, "application/octet-stream"),
        (b"text\0with a NUL", "application/octet-stream"),
        ("latin ü".encode("latin-1"), "application/octet-stream"),
        ("utf-16".encode("utf-16"), "application/octet-stream"),
        (b"\x01\x02\x03 hardly text", "application/octet-stream"),
        ("世界".encode()[:-1], "application/octet-stream"),
        (b"\xed\xa0\x80 half a pair", "application/octet-stream"),
    ],
    ids=repr,
)
def test_what_is_no_text_is_known_by_its_first_bytes(content: bytes, media_type: str) -> None:
    assert sniff([content]) == Kind(media_type, is_text=False)


def test_text_is_text_to_its_end() -> None:
    text = b"a" * 200_000
    assert sniff(in_chunks(text, 65_536)) == TEXT
    assert not sniff(in_chunks(text + b"\xff", 65_536)).is_text
    assert not sniff(in_chunks(text + b"\0", 65_536)).is_text


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])), st.integers(1, 7))
def test_characters_may_be_cut_by_chunks(text: str, size: int) -> None:
    content = b"begins plainly " + text.encode()
    assert sniff([content[:20], *in_chunks(content[20:], size)]) == TEXT


@given(st.binary(max_size=300))
def test_any_bytes_have_a_kind_that_is_served_inert(content: bytes) -> None:
    kind = sniff([content])
    assert not kind.is_text or content.decode().encode() == content
    shown = ("image/", "audio/", "video/", "application/pdf", "text/plain; charset=utf-8")
    assert inert_type(kind.media_type).startswith((*shown, "application/octet-stream"))


@pytest.mark.parametrize(
    "media_type",
    ["text/html", "image/svg+xml", "text/xml", "application/x-shockwave-flash", "application/wasm"],
)
def test_what_a_browser_could_run_is_served_as_bytes(media_type: str) -> None:
    assert inert_type(media_type) == "application/octet-stream"
