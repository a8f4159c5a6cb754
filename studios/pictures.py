"""The pictures that an order names: uploads, and results of the user's jobs."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from common.errors import ValidationFailed
from media.files.errors import Loc
from media.files.selectors.references import Reference, find_reference, find_result
from studios.models import GenerationOutput

# As a parameter names a picture: the id of an upload, or a result by its `job` and `output`.
Name = str | Mapping[str, Any]

# Parameters that name one picture.
_SINGLE = ("start_image", "end_image", "image")


def names_in(params: Mapping[str, Any]) -> Iterator[tuple[Loc, Name]]:
    """The pictures that parameters name, each with its place."""
    for index, name in enumerate(params.get("references", ())):
        yield ("references", index), name
    for field in _SINGLE:
        if params.get(field):
            yield (field,), params[field]


def key_of(name: Name) -> str:
    """The same for the same picture."""
    return name if isinstance(name, str) else f"{name['job']}/{_place_of(name)}"


def find_picture(account_id: UUID, name: Name, loc: Loc) -> Reference:
    """The picture of the account's that a parameter names at `loc`. Raises UploadNotFound,
    ResultNotKept, ValidationFailed, StorageUnavailable."""
    if isinstance(name, str):
        return find_reference(account_id, UUID(name), loc=loc)
    outputs = GenerationOutput.objects.filter(
        generation__account=account_id,
        generation__deleted_at=None,
        generation=UUID(name["job"]),
        position=_place_of(name),
    )
    output = outputs.select_related("file").first()
    if output is None:
        raise ValidationFailed.at(loc, "There is no such result of yours.")
    return find_result(output.file, loc=loc)


def _place_of(result: Mapping[str, Any]) -> int:
    return int(result.get("output", 0))
