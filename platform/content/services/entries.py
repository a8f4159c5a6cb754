"""Saves entries, and keeps each text that they had."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from content.models import Entry, Revision


@transaction.atomic
def save(*, entry: Entry, author_id: UUID | None) -> None:
    """Save the entry; where its text is a new one, as a revision too."""
    entry.updated_at = Now()
    entry.save()
    entry.refresh_from_db(fields=["updated_at"])
    newest = entry.revisions.order_by("-pk").first()
    if newest is None or newest.texts() != entry.texts():
        Revision.objects.create(entry=entry, author_id=author_id, **entry.texts())


@transaction.atomic
def restore(*, entry: Entry, revision: Revision, author_id: UUID | None) -> bool:
    """Give the entry the text of that revision of its own, which becomes the newest one. Did that
    change anything? When the entry is public stays as it is."""
    locked = Entry.objects.select_for_update(no_key=True).get(pk=entry.pk)
    if locked.texts() == revision.texts():
        return False
    for name, value in revision.texts().items():
        setattr(locked, name, value)
    save(entry=locked, author_id=author_id)
    return True
