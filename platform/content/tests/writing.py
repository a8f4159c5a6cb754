"""Entries for tests."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from content.models import Entry
from content.services import entries

PAST = timedelta(days=-1)


def write(slug: str, *, since: timedelta | None = PAST, **fields: Any) -> Entry:
    """A page in English that is public since then; None: a draft."""
    publish_at = None if since is None else timezone.now() + since
    values = {"kind": "page", "title": slug.title(), "publish_at": publish_at, **fields}
    entry = Entry(slug=slug, **values)
    entry.full_clean()
    entries.save(entry=entry, author_id=None)
    return entry
