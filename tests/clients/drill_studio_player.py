"""A page of another origin, in a real browser, shows what the studios have made by the signed links
of the jobs: pictures and their thumbnails, a 3D asset, and a clip with its poster, which it plays
and seeks in."""

import re
import time
from pathlib import Path
from typing import Any

from studios.tests.artist import Artist
from tests.chaos.proxy import Link, Proxy
from tests.clients import large_film, page
from tests.clients.environments import PROGRAMS
from tests.service import Web

pytestmark = page.needs_browser

# Seconds for each 64 kB, as in a network.
PAUSE = 0.01


class ListeningProxy(Proxy):
    """A network that notes the first bytes of the ranges that are asked for, and the statuses of
    the answers."""

    def __init__(self, server_port: int) -> None:
        self.asked: list[int] = []
        self.statuses: list[int] = []
        super().__init__(server_port)

    def to_server(self, link: Link, data: bytes) -> bytes:
        self.asked += map(int, re.findall(rb"(?i)\r\nrange: bytes=(\d+)-", data))
        return data

    def to_client(self, link: Link, data: bytes) -> bytes:
        self.statuses += map(int, re.findall(rb"HTTP/1\.1 (\d{3}) [A-Z]", data))
        time.sleep(PAUSE)
        return data


def opened(folder: Path, **task: Any) -> dict[str, Any]:
    profile = folder / "profile"
    seen = page.opened(PROGRAMS / "studio_player", "page.html", task, profile=profile)
    assert "error" not in seen, seen["error"]
    return seen


def test_pictures_are_shown_with_their_thumbnails(artist: Artist, tmp_path: Path) -> None:
    outputs = artist.made("gpt-image-2.5-flare", n=2)["outputs"]

    links = [output[name] for output in outputs for name in ("url", "thumbnail_url")]
    seen = opened(tmp_path, pictures=links)

    assert seen["widths"] == [1024, 512] * 2


def test_an_asset_is_fetched_as_viewers_do(artist: Artist, tmp_path: Path) -> None:
    [output] = artist.made("meshy-6")["outputs"]

    assert opened(tmp_path, asset=output["url"])["bytes"] == output["size"]


def test_a_clip_is_shown_with_its_poster_and_plays(artist: Artist, tmp_path: Path) -> None:
    clip = artist.made("veo-3.1", seconds=4, audio=True)
    link, poster = clip["outputs"][0]["url"], clip["thumbnail_url"]

    seen = opened(tmp_path, pictures=[poster], clip=link, poster=poster, seekTo=2)

    assert seen["canPlay"] == "probably"
    assert seen["widths"] == [clip["outputs"][0]["width"]]
    assert round(seen["duration"]) == 4
    assert seen["clock"] == 2


def test_who_seeks_in_a_large_clip_loads_it_from_there(
    artist: Artist, web: Web, tmp_path: Path
) -> None:
    clip = artist.made("gen4.5")
    size = large_film.enlarge(clip, tmp_path)
    middle = large_film.SECONDS / 2

    with ListeningProxy(web.port) as network:
        link = clip["outputs"][0]["url"].replace(web.url, network.url)
        seen = opened(tmp_path, clip=link, seekTo=middle)

    assert (seen["duration"], seen["clock"]) == (large_film.SECONDS, middle)
    assert network.asked[0] == 0
    assert any(0.45 * size < first < 0.55 * size for first in network.asked)
    assert set(network.statuses) == {206}
