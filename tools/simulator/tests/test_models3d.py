"""The 3D models of the simulator: sound GLB files, with a picture of each."""

import math

from simulator.media.glb import Asset
from simulator.tests import model3d


def file(asset: Asset, kind: str = "glb") -> bytes:
    data = asset.make_file(kind)
    assert data is not None
    return data


def test_a_model_has_a_mesh_whose_numbers_fit() -> None:
    seen = model3d.view(file(Asset("A fox", "s", is_textured=True)))
    positions, normals, places, corners = seen.accessors

    assert len(positions) == len(normals) == len(places) * 3 // 2
    assert 0 <= min(corners) <= max(corners) < len(positions) // 3
    assert len(corners) % 3 == 0


def test_the_bounds_of_a_model_are_those_of_its_vertices() -> None:
    seen = model3d.view(file(Asset("A fox", "s", is_textured=True)))

    bounds = seen.document["accessors"][0]

    assert bounds["min"] == [min(seen.accessors[0][axis::3]) for axis in range(3)]
    assert bounds["max"] == [max(seen.accessors[0][axis::3]) for axis in range(3)]


def test_normals_have_the_length_one_and_point_outwards() -> None:
    positions, normals, *_ = model3d.view(file(Asset("A fox", "s", is_textured=True))).accessors

    for at in range(0, len(normals), 3):
        normal, position = normals[at : at + 3], positions[at : at + 3]
        assert math.isclose(math.hypot(*normal), 1, abs_tol=1e-4)
        assert sum(one * other for one, other in zip(normal, position, strict=True)) > 0


def test_a_textured_model_has_its_texture_inside() -> None:
    seen = model3d.view(file(Asset("A fox", "s", is_textured=True)))

    assert seen.texture is not None
    assert seen.texture.startswith(b"\x89PNG")
    assert seen.document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] == {"index": 0}


def test_a_model_without_texture_has_none() -> None:
    seen = model3d.view(file(Asset("A fox", "s", is_textured=False)))

    assert seen.texture is None
    assert "textures" not in seen.document


def test_the_texture_of_a_model_is_the_picture_that_it_was_made_of() -> None:
    picture = file(Asset("A fox", "s", is_textured=False), "png")

    seen = model3d.view(file(Asset("", "s", is_textured=True, picture=picture)))

    assert seen.texture == picture


def test_a_model_has_a_picture() -> None:
    assert file(Asset("A fox", "s", is_textured=True), "png").startswith(b"\x89PNG")
    assert Asset("A fox", "s", is_textured=True).make_file("mp4") is None
