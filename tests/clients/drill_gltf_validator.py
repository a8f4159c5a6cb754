"""Khronos' unmodified validator of glTF reads the 3D assets of the studios by their links."""

import json
import subprocess
from typing import Any

import pytest

from studios.tests.artist import Artist
from tests.clients.environments import PROGRAMS, node_client
from tests.environment import inherited

pytestmark = node_client("gltf_validator", "Khronos' glTF validator")

ERROR, WARNING = 0, 1


def report_on(url: str) -> dict[str, Any]:
    """What the validator says of the asset at this address."""
    done = subprocess.run(
        ["node", PROGRAMS / "gltf_validator" / "validate.mjs", url],
        env=inherited(),
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("model", ["meshy-6", "tripo-h3"])
@pytest.mark.parametrize("stage", ["preview", "refine", "image"])
def test_an_asset_has_neither_errors_nor_warnings(artist: Artist, model: str, stage: str) -> None:
    order: dict[str, Any] = {"stage": stage}
    if stage == "refine":
        order["refines"] = artist.made(model)["id"]
    if stage == "image":
        # Tripo takes no prompt beside a picture.
        order |= {"image": artist.upload(), "prompt": "" if model == "tripo-h3" else "A boat."}
    job = artist.made(model, **order)

    report = report_on(job["outputs"][0]["url"])

    assert report["mimeType"] == "model/gltf-binary"
    assert [each for each in report["issues"]["messages"] if each["severity"] <= WARNING] == []
    assert report["info"]["totalTriangleCount"] > 0


def test_a_broken_asset_has_errors(artist: Artist) -> None:
    picture = artist.made("flux-2-pro")

    report = report_on(picture["outputs"][0]["url"])

    assert ERROR in {each["severity"] for each in report["issues"]["messages"]}
