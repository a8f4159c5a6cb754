"""Reads models' files by their links."""

from uuid import UUID

from django.db.models.functions import Now

from files.errors import FileGone
from files.models import StoredFile
from files.selectors.links import check_link


def find_by_link(*, name: str, expires: str, signature: str) -> StoredFile:
    """The file of a link. Raises LinkNotValid, LinkExpired or FileGone."""
    check_link(name=name, expires=expires, signature=signature)
    file_id, _, _ = name.partition(".")
    file = StoredFile.objects.filter(pk=UUID(file_id), expires_at__gte=Now()).first()
    if file is None:
        raise FileGone
    return file
