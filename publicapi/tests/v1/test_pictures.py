"""The pictures of a request: what is read from its body, what is fetched, and what is refused."""

import asyncio
import base64
import io
import logging
import socket
import struct
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pytest_django import Settings

from ai.providers.types import InputImage
from common.errors import ServiceUnavailable
from common.tests.upstream import Answer, Call, Upstream
from integrations.safe_http.tests.test_addresses import INSIDE
from media.probe.tests.samples import picture
from media.probe.tests.test_inspecting import inspectors
from publicapi.v1 import pictures
from publicapi.v1.errors import InvalidBody
from publicapi.v1.pictures import MAX_BYTES, MAX_PICTURES, PictureUrl, load_pictures
from tests.stopwatch import Stopwatch

PNG = picture("PNG", (40, 30))
ALICE, BOB = uuid4(), uuid4()


def data_url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def named(*urls: str) -> list[PictureUrl]:
    return [PictureUrl(url, "auto", f"messages[0].content[{at}]") for at, url in enumerate(urls)]


async def load(*urls: str, owner: UUID = ALICE) -> list[InputImage]:
    return await load_pictures(named(*urls), owner)


async def refusal(*urls: str) -> str:
    """Why the last one of some pictures is refused."""
    with pytest.raises(InvalidBody) as refused:
        await load(*urls)
    assert refused.value.extra["param"] == f"messages[0].content[{len(urls) - 1}]"
    return refused.value.text


# --- In the body ----------------------------------------------------------------------------------


async def test_pictures_come_in_their_order_with_type_size_and_detail() -> None:
    forms = ("PNG", "JPEG", "WEBP", "GIF")
    made = [picture(form, (40 + at, 30)) for at, form in enumerate(forms)]
    found = await load_pictures(
        [
            PictureUrl(data_url(data, f"image/{form.lower()}"), "low", "x")
            for form, data in zip(forms, made, strict=True)
        ],
        ALICE,
    )
    assert found == [
        InputImage(data, f"image/{form.lower()}", 40 + at, 30, "low")
        for at, (form, data) in enumerate(zip(forms, made, strict=True))
    ]


async def test_no_pictures_cost_nothing() -> None:
    assert await load() == []


@pytest.mark.parametrize(
    "start",
    [
        "data:image/jpeg;base64,",
        "DATA:IMAGE/JPG;BASE64,",
        "data:image/png;charset=utf-8;base64,",
        "data:image/webp;name=a.png;base64,",
    ],
)
async def test_the_bytes_say_of_which_type_a_picture_is(start: str) -> None:
    [found] = await load(start + base64.b64encode(PNG).decode())
    assert found == InputImage(PNG, "image/png", 40, 30)


@pytest.mark.parametrize(
    "url",
    ["", "picture.png", "data:", "data:,x", "data:image/png,x", "data:image/png;base64", "data:;x"],
)
async def test_what_is_no_data_url_of_a_picture_is_refused(url: str) -> None:
    assert "as a data URL (`data:image/png;base64,...`)" in await refusal(url)


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/pdf", "a/b"])
async def test_another_type_is_refused(media_type: str) -> None:
    assert await refusal(data_url(PNG), data_url(PNG, media_type)) == (
        "This is no PNG, JPEG, WebP or GIF picture."
    )


@pytest.mark.parametrize(
    "data", [b"", b"GIF89a", b"<svg/>", b"%PDF-1.7", picture("BMP"), picture("TIFF")], ids=len
)
async def test_bytes_of_another_type_are_refused(data: bytes) -> None:
    assert await refusal(data_url(data)) == "This is no PNG, JPEG, WebP or GIF picture."


WHOLE = data_url(PNG)


@pytest.mark.parametrize(
    "url",
    [
        WHOLE[:-1],
        WHOLE + "=",
        WHOLE + "\n",
        WHOLE[:60] + "\r\n" + WHOLE[60:],
        WHOLE[:60] + "-_--" + WHOLE[60:],
        WHOLE[:60] + "%2B" + WHOLE[60:],
        WHOLE[:60] + "AA==" + WHOLE[60:],
        WHOLE[:60] + "\u00e4\u00e4\u00e4\u00e4" + WHOLE[60:],
    ],
    ids=range(8),
)
async def test_malformed_base64_is_refused(url: str) -> None:
    assert "base64 is malformed" in await refusal(url)


@given(st.binary(max_size=60), st.integers(1, 15))
def test_any_bytes_are_decoded_in_pieces_as_at_once(data: bytes, pieces: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "_AT_ONCE", 4 * pieces)
        [one] = named(base64.b64encode(data).decode())
        assert pictures._decoded(one, 0) == data


@given(st.text(st.sampled_from("AQ=-_\n "), max_size=30), st.integers(1, 3))
def test_what_is_accepted_in_pieces_is_the_base64_of_what_it_brings(text: str, pieces: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "_AT_ONCE", 4 * pieces)
        [one] = named(text)
        try:
            data = pictures._decoded(one, 0)
        except InvalidBody:
            return
    assert len(base64.b64encode(data)) == len(text)


async def test_a_picture_that_cannot_be_decoded_is_refused() -> None:
    whole = picture("JPEG", (400, 300))
    assert await refusal(WHOLE, data_url(whole[:600])) == (
        "This picture cannot be used. It cannot be decoded."
    )


# --- Bounds ---------------------------------------------------------------------------------------


def wide(width: int, height: int) -> bytes:
    """The header of a PNG of that size, and little more."""
    return PNG[:16] + struct.pack(">II", width, height) + PNG[24:]


@pytest.mark.parametrize("size", [(30_000, 30_000), (30_000, 1), (1, 8_001), (8_000, 3_126)])
async def test_too_many_pixels_are_refused_by_the_header_alone(size: tuple[int, int]) -> None:
    started = len(inspectors("media.probe.still_inspector"))
    assert f"{size[0]:,} x {size[1]:,} pixels" in await refusal(data_url(wide(*size)))
    assert len(inspectors("media.probe.still_inspector")) == started == 0


async def test_many_pixels_in_all_are_refused() -> None:
    urls = [data_url(wide(5_000, 5_000))] * 5
    assert "100 million pixels in all" in await refusal(*urls)


async def test_a_picture_of_too_many_bytes_is_refused() -> None:
    assert await refusal(data_url(PNG + bytes(MAX_BYTES + 1 - len(PNG)))) == (
        "A picture may have 5 MB. Make it smaller."
    )
    [found] = await load(data_url(PNG + bytes(MAX_BYTES - len(PNG))))
    assert len(found.data) == MAX_BYTES


async def test_too_many_bytes_in_all_are_refused() -> None:
    urls = [data_url(PNG + bytes(MAX_BYTES - len(PNG)))] * 5
    assert "20 MB in all" in await refusal(*urls)


async def test_more_pictures_than_a_request_may_have_are_refused() -> None:
    assert len(await load(*[WHOLE] * MAX_PICTURES)) == MAX_PICTURES
    assert await refusal(*[WHOLE] * (MAX_PICTURES + 1)) == (
        "A request may have 20 pictures; this one has 21. Leave out the oldest."
    )


async def test_where_there_is_no_memory_left_nothing_is_read() -> None:
    with pictures._memory.share() as others:
        others.reserve(pictures._MAX_MEMORY - len(WHOLE))
        with pytest.raises(ServiceUnavailable):
            await load(WHOLE)
    with pictures._memory.share(str(ALICE)) as hers:
        hers.reserve(pictures._MAX_MEMORY_OF_OWNER - len(WHOLE))
        with pytest.raises(ServiceUnavailable):
            await load(WHOLE)
        assert await load(WHOLE, owner=BOB)
    assert await load(WHOLE)


# --- Fetched --------------------------------------------------------------------------------------


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[Upstream]:
    """Another host, which answers with a picture."""
    settings.OUTBOUND_ALLOWED = ["127.0.0.1"]
    async with Upstream() as host:
        host.answer = Answer([PNG], content_type="image/png")
        yield host


async def test_a_picture_is_fetched_without_anything_of_ours(host: Upstream) -> None:
    [found] = await load(f"{host.url}/a.png?signature=x/")
    assert found == InputImage(PNG, "image/png", 40, 30)
    [call] = host.calls
    assert (call.method, call.path) == ("GET", "/v1/a.png?signature=x/")
    assert not {"authorization", "cookie", "referer"} & {*call.headers}


async def test_an_address_is_fetched_once_for_a_request(host: Upstream) -> None:
    urls = [f"{host.url}/a", WHOLE, f"{host.url}/b", f"{host.url}/a"]
    found = await load_pictures(
        [PictureUrl(url, "low" if at else "high", "x") for at, url in enumerate(urls)], ALICE
    )
    assert sorted(call.path for call in host.calls) == ["/v1/a", "/v1/b"]
    assert [each.detail for each in found] == ["high", "low", "low", "low"]
    await load(urls[0])
    assert len(host.calls) == 3


async def test_addresses_are_fetched_side_by_side_but_a_few_at_a_time(host: Upstream) -> None:
    host.answer = Answer([PNG], content_type="image/png", delay=0.2)
    with Stopwatch() as watch:
        await asyncio.gather(
            load(*(f"{host.url}/{at}" for at in range(4))),
            load(*(f"{host.url}/{at}" for at in range(4)), owner=BOB),
            load(*(f"{host.url}/{at}" for at in range(4))),
        )
    assert 0.4 <= watch.seconds < 2
    assert len(host.calls) == 12


ANSWERS = {
    "no picture": (
        Answer([b"<html>secret words</html>"], content_type="text/html; secret words"),
        "The picture's address does not answer with a PNG, JPEG, WebP or GIF picture.",
    ),
    "a page that says it is one": (
        Answer([b"<html>secret words</html>"], content_type="image/png"),
        "This is no PNG, JPEG, WebP or GIF picture.",
    ),
    "nothing": (
        Answer([], content_type="image/png"),
        "This is no PNG, JPEG, WebP or GIF picture.",
    ),
    "not there": (
        Answer([b"secret words"], status=404, content_type="text/plain"),
        "The picture's address answered with status 404.",
    ),
    "broken": (
        Answer([PNG[:50]], content_type="image/png", ending="broken"),
        (
            "The picture could not be fetched: 127.0.0.1 closed the connection without a whole "
            "answer. Try again, or send it as a data URL."
        ),
    ),
    "packed": (
        Answer([PNG], content_type="image/png", headers={"Content-Encoding": "gzip"}),
        "The picture's address does not answer with a PNG, JPEG, WebP or GIF picture.",
    ),
    "too large": (
        Answer([PNG, *[bytes(1_000_000)] * 5], content_type="image/png"),
        "A picture may have 5 MB. Make it smaller.",
    ),
    "elsewhere": (
        Answer([], status=302, headers={"Location": "http://169.254.169.254/secret"}),
        "The picture's address redirects to another host: send the address that it leads to.",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_that_is_no_picture_is_refused(host: Upstream, name: str) -> None:
    answer, sentence = ANSWERS[name]
    host.answer = answer
    assert await refusal(WHOLE, f"{host.url}/a?token=hidden") == sentence


async def test_a_redirect_on_the_same_host_is_followed(host: Upstream) -> None:
    def answer(call: Call) -> Answer:
        if call.path == "/v1/old":
            return Answer([], status=302, headers={"Location": "/v1/new", "Set-Cookie": "a=b"})
        return Answer([PNG], content_type="image/png")

    host.answer = answer
    assert len(await load(f"{host.url}/old")) == 1


async def test_a_host_that_is_slow_is_left(host: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "FETCH_SECONDS", 0.3)
    drops: list[bytes | float] = [PNG[:1], 0.1]
    host.answer = Answer(drops * 100, content_type="image/png")
    with Stopwatch() as watch:
        sentence = await refusal(f"{host.url}/a?token=hidden")
    assert sentence == (
        "The picture could not be fetched: 127.0.0.1 did not answer in time. "
        "Try again, or send it as a data URL."
    )
    assert watch.seconds < 2


async def test_the_first_failure_ends_the_fetching_of_the_others(host: Upstream) -> None:
    def answer(call: Call) -> Answer:
        return Answer([], status=404 if call.path == "/v1/3" else 200, delay=0.1)

    host.answer = answer
    with pytest.raises(InvalidBody):
        await load(*(f"{host.url}/{at}" for at in range(20)))
    assert len(host.calls) <= 8


async def test_who_fetches_more_than_a_request_may_have_is_refused_early(host: Upstream) -> None:
    host.answer = Answer([PNG, *[bytes(1_000_000)] * 4], content_type="image/png")
    with pytest.raises(InvalidBody, match="20 MB in all"):
        await load(*(f"{host.url}/{at}" for at in range(20)))
    assert len(host.calls) <= 9


async def test_slow_hosts_of_one_account_keep_no_other_waiting(host: Upstream) -> None:
    def answer(call: Call) -> Answer:
        slow = call.path.startswith("/v1/slow")
        return Answer([PNG], content_type="image/png", delay=1.0 if slow else 0.0)

    host.answer = answer
    hers = [
        asyncio.create_task(load(*(f"{host.url}/slow/{request}/{at}" for at in range(20))))
        for request in range(3)
    ]
    await asyncio.sleep(0.1)
    with Stopwatch() as watch:
        assert await load(f"{host.url}/quick", owner=BOB)
    assert watch.seconds < 0.9
    for task in hers:
        task.cancel()
    await asyncio.gather(*hers, return_exceptions=True)


async def test_no_line_of_ours_says_the_query_of_an_address(
    host: Upstream, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    await load(f"{host.url}/a?token=hidden")
    host.answer = Answer([], status=500)
    assert "hidden" not in await refusal(f"{host.url}/a?token=hidden")
    assert "hidden" not in caplog.text + capfd.readouterr().err


# --- Never inwards --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a.png",
        "ftp://example.com/a.png",
        "file:///etc/passwd",
        "//example.com/a.png",
        "https://user:password@example.com/a.png",
        "https://",
        "https://" + "a" * 3_000,
        "javascript:alert(1)",
        "blob:https://example.com/1",
    ],
)
async def test_what_is_no_https_address_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolving_to("93.184.215.14"))
    assert "begins with `https://`" in await refusal(WHOLE, url)


def resolving_to(address: str) -> Callable[..., list[Any]]:
    def resolve(host: str, port: int, *_: object, **__: object) -> list[Any]:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    return resolve


@pytest.mark.parametrize("address", INSIDE)
async def test_no_name_leads_inside(
    address: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OUTBOUND_ALLOWED = []
    monkeypatch.setattr(socket, "getaddrinfo", resolving_to(address))
    assert "pictures.example.com is not an address that can be called from here." in (
        await refusal("https://pictures.example.com/a.png")
    )


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "0"])
async def test_this_machine_is_not_called_by_any_name(
    host: Upstream, settings: Settings, name: str
) -> None:
    settings.OUTBOUND_ALLOWED = []
    port = host.url.rpartition(":")[2].removesuffix("/v1")
    for scheme in ("http", "https"):
        assert "is not an address that can be called" in await refusal(f"{scheme}://{name}:{port}")
    assert host.connections == 0


# --- What is hidden in files ----------------------------------------------------------------------


def with_place_in_exif() -> bytes:
    """A photograph that says where it was made."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[1] = "N"
    file = io.BytesIO()
    Image.new("RGB", (40, 30)).save(file, "JPEG", exif=exif)
    return file.getvalue()


async def test_pictures_are_passed_on_as_they_are() -> None:
    """Also what is written beside the pixels, and behind them."""
    files = [with_place_in_exif(), PNG + b"<?php phpinfo();", picture("GIF") + b"PK\3\4"]
    found = await load(*(data_url(data) for data in files))
    assert [each.data for each in found] == files
