"""Reading what models made, by the links that were given for it."""

from uuid import UUID

from django.db.models.functions import Now

from files.errors import FileGone
from files.models import StoredFile
from files.selectors.links import check_link


def find_by_link(*, name: str, expires: str, signature: str) -> StoredFile:
    """The file that a link leads to. Raises LinkNotValid, LinkExpired or FileGone."""
    check_link(name=name, expires=expires, signature=signature)
    file_id, _, _ = name.partition(".")
    file = StoredFile.objects.filter(pk=UUID(file_id), expires_at__gte=Now()).first()
    if file is None:
        raise FileGone
    return file
