"""Why a conversation refuses something."""

from common.errors import ValidationFailed


class MessageTooLong(ValidationFailed):
    """A message that does not fit into what its model can read, with nothing said before it."""

    code = "input_too_long"
    message = "The message is longer than this model can read."

    @classmethod
    def of_length(
        cls,
        *,
        length: int,
        limit: int,
        unit: str,
        model: str,
        largest: tuple[str, int] | None,
        is_free: bool,
    ) -> "MessageTooLong":
        """The error of a message of that length in tokens or characters (`unit`), instructions and
        files included. `largest` is its largest file: its name, and its size in bytes."""
        problem = (
            f"With its files and instructions this is about {length:,} {unit} long, and {model} "
            f"can be given {limit:,}"
        )
        problem += " on the free plan; other plans allow more." if is_free else "."
        if largest is not None:
            name, size = largest
            problem += f" The largest file is “{name}”, of {size:,} bytes."
        field = "content" if largest is None else "upload_ids"
        return cls(
            problem,
            errors=[{"loc": [field], "msg": problem}],
            length=length,
            limit=limit,
            unit=unit,
            largest_file=None if largest is None else largest[0],
        )
