"""The films of the simulator: they play, show the time, and go on where others end."""

import io
import itertools

import pytest
from PIL import Image

from simulator.media import films
from simulator.media.films import Film, InvalidFilm
from simulator.tests import film

SIZE = (256, 144)


def made(**fields: object) -> bytes:
    usual = {"prompt": "A fox", "seconds": 2, "size": SIZE, "seed": "s"} | fields
    data = Film(**usual).make_file("mp4")  # type: ignore[arg-type]
    assert data is not None
    return data


def test_a_film_has_its_length_and_its_size() -> None:
    seen = film.watch(made(seconds=3))

    assert seen.seconds == pytest.approx(3, abs=0.1)
    assert {image.size for image in seen.images} == {SIZE}
    assert not seen.has_sound


def test_the_clock_moves_from_frame_to_frame() -> None:
    clock = film.watch(made()).clock

    assert clock[0] == 0
    assert clock[-1] == pytest.approx(2, abs=0.11)
    assert all(later >= earlier for earlier, later in itertools.pairwise(clock))


def test_a_film_has_sound_where_it_is_ordered() -> None:
    seen = film.watch(made(audio=True))

    assert seen.has_sound
    assert seen.seconds == pytest.approx(2, abs=0.1)


def test_a_film_contains_the_one_that_it_continues() -> None:
    first = made()

    seen = film.watch(made(prompt="Then it sleeps", before=first))

    assert seen.seconds == pytest.approx(4, abs=0.1)
    assert seen.clock[: len(film.watch(first).clock)] == film.watch(first).clock
    assert seen.clock[-1] == pytest.approx(4, abs=0.11)


def test_a_film_can_begin_where_another_one_ends() -> None:
    clock = film.watch(made(starts_at=5)).clock

    assert clock[0] == 5
    assert clock[-1] == pytest.approx(7, abs=0.11)


def test_the_colour_of_the_background_goes_on() -> None:
    place = (SIZE[0] // 2, SIZE[1] // 4)
    first, second = film.watch(made()), film.watch(made(starts_at=2))

    end = film.colour(first.images[-1], place)

    assert film.colour(second.images[0], place) == pytest.approx(end, abs=8)


def test_a_picture_to_begin_with_is_shown_at_first_only() -> None:
    file = io.BytesIO()
    Image.new("RGB", (32, 32), (0, 255, 0)).save(file, "PNG")

    images = film.watch(made(start=file.getvalue())).images

    corner = (SIZE[0] - 12, 12)
    assert film.colour(images[0], corner)[1] > 200
    assert film.colour(images[-1], corner)[1] < 200


def test_equal_films_have_the_same_bytes_and_others_have_not() -> None:
    assert made() == made()
    assert made() != made(seed="another")


@pytest.mark.parametrize(
    ("ratio", "size"), [("16:9", (320, 180)), ("9:16", (180, 320)), ("1:1", (180, 180))]
)
def test_a_film_is_small_but_has_the_aspect_ratio(ratio: str, size: tuple[int, int]) -> None:
    assert films.frame_size("720p", ratio) == size


@pytest.mark.parametrize("data", [b"", b"no film", made()[:500]])
def test_what_is_no_film_cannot_be_continued(data: bytes) -> None:
    with pytest.raises(InvalidFilm):
        films.read_metadata(data)
