"""What is a picture, and which error says most where there is none."""

import pytest
from msgspec import Raw

from ai.providers.errors import ProviderError, ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.pictures import MAX_PICTURE, delivered, picture_in, picture_of, side_by_side
from ai.providers.types import Image

from .media import JPEG, PNG, WEBP, base64_of


@pytest.mark.parametrize(
    ("data", "media_type"), [(PNG, "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp")]
)
def test_its_first_bytes_say_what_a_picture_is(data: bytes, media_type: str) -> None:
    assert picture_of(data) == Image(data, media_type)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg onload=alert(1)>",
        b"<html>",
        b"GIF89a",
        b"\x89PNG",
        b"RIFF\x20\x00\x00\x00WAVE",
        b" " + PNG,
        PNG + b"\0" * MAX_PICTURE,
    ],
)
def test_nothing_else_is_a_picture(data: bytes) -> None:
    with pytest.raises(UpstreamError) as failure:
        picture_of(data)
    assert not failure.value.retryable


def test_a_picture_is_read_from_a_json_string() -> None:
    assert picture_in(Raw(f'"{base64_of(PNG)}"'.encode())).data == PNG
    escaped = base64_of(JPEG).replace("/", "\\/")  # as some encoders write it
    assert "\\" in escaped
    assert picture_in(Raw(f'"{escaped}"'.encode())).data == JPEG


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "7",
        "{}",
        '""',
        '"no base64"',
        f'"{base64_of(PNG)[:-1]}"',
        f'"{base64_of(PNG)}\\n"',
        f'"data:image/png;base64,{base64_of(PNG)}"',
        f'"{base64_of(PNG)[:10]} {base64_of(PNG)[10:]}"',
        '"' + "A" * (MAX_PICTURE * 4 // 3 + 8) + '"',
    ],
)
def test_what_is_not_strict_base64_of_a_picture_is_a_failure(text: str) -> None:
    with pytest.raises(UpstreamError) as failure:
        picture_in(Raw(text.encode()))
    assert not failure.value.retryable


def test_pictures_are_delivered_whatever_failed_beside_them() -> None:
    picture = Image(PNG, "image/png")
    assert delivered([UpstreamError("a"), picture, RequestRefused("b"), picture]) == [picture] * 2


BUSY = UpstreamError("busy", retryable=True)
BROKEN = UpstreamError("broken", retryable=False)
UNAVAILABLE = ProviderUnavailable("key")
REFUSED = RequestRefused("refused")
BLOCKED = RequestRefused("blocked", blocked=True)


@pytest.mark.parametrize(
    ("errors", "most_telling"),
    [
        ([BUSY, BUSY], BUSY),
        ([BUSY, BROKEN], BROKEN),  # one may have been made: no second try
        ([BROKEN, UNAVAILABLE], UNAVAILABLE),
        ([REFUSED, UNAVAILABLE], REFUSED),
        ([REFUSED, BLOCKED, UNAVAILABLE, BROKEN], BLOCKED),
    ],
)
def test_where_there_is_none_the_most_telling_error_counts(
    errors: list[ProviderError], most_telling: ProviderError
) -> None:
    for order in (errors, errors[::-1]):
        with pytest.raises(ProviderError) as failure:
            delivered(order)
        assert failure.value is most_telling


@pytest.mark.parametrize(
    ("beside", "may_be_repeated"),
    [
        (BROKEN, False),  # it may have been made, and be billed
        (UNAVAILABLE, False),
        (BUSY, True),
        (ProviderUnavailable("key", turned_away=True), True),
    ],
)
def test_another_key_is_used_only_where_nothing_was_made(
    beside: ProviderError, may_be_repeated: bool
) -> None:
    turned_away = ProviderUnavailable("quota", turned_away=True)
    with pytest.raises(ProviderUnavailable) as failure:
        delivered([turned_away, beside])
    assert failure.value.turned_away is may_be_repeated


def test_no_outcome_at_all_is_a_failure() -> None:
    with pytest.raises(UpstreamError):
        delivered([])


async def test_what_is_no_provider_s_failure_is_not_hidden() -> None:
    async def make(error: Exception | None) -> Image:
        if error:
            raise error
        return Image(PNG, "image/png")

    with pytest.raises(ZeroDivisionError):
        await side_by_side([make(None), make(ZeroDivisionError())])
