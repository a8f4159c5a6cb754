"""Pictures inside of pictures, and the description that a picture has."""

import io

from PIL import Image
from PIL.PngImagePlugin import PngInfo

_IMAGE_DESCRIPTION = 0x010E  # Exif


def add_insets(picture: bytes, references: tuple[bytes, ...]) -> bytes:
    """A PNG of a picture with its references side by side along the lower edge."""
    with Image.open(io.BytesIO(picture)) as opened:
        described = description_of(opened)
        image = opened.convert("RGB")
    room = image.width // len(references), image.height // 2
    for number, reference in enumerate(references):
        with Image.open(io.BytesIO(reference)) as opened:
            small = _fitted(opened.convert("RGB"), room)
        image.paste(small, (number * room[0], image.height - small.height))
    return encode_png(image, described)


def description_of(image: Image.Image) -> str:
    """The description of a picture: in a PNG a text, in others Exif. Empty without one."""
    text = image.info.get("Description") or image.getexif().get(_IMAGE_DESCRIPTION)
    return text if isinstance(text, str) else ""


def description_in_file(data: bytes) -> str:
    """The description of a picture that can be read."""
    with Image.open(io.BytesIO(data)) as opened:
        return description_of(opened)


def encode_png(image: Image.Image, description: str) -> bytes:
    """The file of a picture with this description."""
    notes = PngInfo()
    notes.add_itxt("Description", description)
    file = io.BytesIO()
    image.save(file, "PNG", pnginfo=notes, compress_level=1)
    return file.getvalue()


def _fitted(image: Image.Image, room: tuple[int, int]) -> Image.Image:
    """The picture in the largest size that the room has a place for."""
    scale = min(room[0] / image.width, room[1] / image.height)
    return image.resize((max(1, int(image.width * scale)), max(1, int(image.height * scale))))
