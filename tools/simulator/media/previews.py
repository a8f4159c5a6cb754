"""A picture of a mesh, as seen from the front in the light of a lamp."""

import io

from PIL import Image, ImageDraw

from simulator.media.meshes import Mesh, Vector

_EDGE = 256  # pixels
_GROUND = (235, 235, 235)
_PLAIN = (190, 190, 190)
_LAMP: Vector = (0.48, 0.6, 0.64)
_RADIUS = 1.25  # what is shown around the middle, in units of the mesh

Colour = tuple[int, int, int]


def draw_preview(mesh: Mesh, texture: bytes | None) -> bytes:
    """The picture: each triangle that faces us in one colour of the texture."""
    image = Image.new("RGB", (_EDGE, _EDGE), _GROUND)
    draw = ImageDraw.Draw(image)
    paint = _texture(texture)
    # What is farther away is drawn first.
    for triangle in sorted(mesh.triangles, key=lambda corners: _depth(mesh, corners)):
        x, y, z = mesh.normals[triangle[0]]
        if z <= 0:
            continue
        light = 0.3 + 0.7 * max(0.0, x * _LAMP[0] + y * _LAMP[1] + z * _LAMP[2])
        red, green, blue = _colour(paint, mesh.places[triangle[0]])
        points = [_projected(mesh.positions[corner]) for corner in triangle]
        draw.polygon(points, (round(red * light), round(green * light), round(blue * light)))
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


def _texture(data: bytes | None) -> Image.Image | None:
    if data is None:
        return None
    with Image.open(io.BytesIO(data)) as opened:
        return opened.convert("RGB")


def _colour(texture: Image.Image | None, place: tuple[float, float]) -> Colour:
    if texture is None:
        return _PLAIN
    across = min(texture.width - 1, int(place[0] * texture.width))
    down = min(texture.height - 1, int(place[1] * texture.height))
    red, green, blue = texture.crop((across, down, across + 1, down + 1)).tobytes()
    return red, green, blue


def _depth(mesh: Mesh, corners: tuple[int, int, int]) -> float:
    return sum(mesh.positions[corner][2] for corner in corners)


def _projected(position: Vector) -> tuple[float, float]:
    scale = _EDGE / 2 / _RADIUS
    return _EDGE / 2 + position[0] * scale, _EDGE / 2 - position[1] * scale
