"""The bounds of what is decoded."""

from media.probe.errors import UnusableMedia

# Models make pictures of 16 million pixels; panoramas are wide.
MAX_PIXELS = 50_000_000
MAX_SIDE = 16_384
THUMBNAIL_SIDE = 512  # pixels


def check_size(width: int, height: int) -> None:
    """Raise UnusableMedia for more pixels than are decoded."""
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise UnusableMedia(f"It is too large: {width:,} x {height:,} pixels.")
