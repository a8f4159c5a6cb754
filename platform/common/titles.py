"""What a thing is called before anybody has named it."""


def first_line(text: str, limit: int) -> str:
    """The first line of a text, cut to `limit` characters."""
    line = " ".join(text.strip().partition("\n")[0].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
