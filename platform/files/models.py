"""What is known of each stored file; its bytes are in the storage `outputs`."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from common.ids import uuid7
from files.types import file_name


class StoredFile(models.Model):
    """A file that a model made for an account. It never changes.

    `size` is in bytes. From `expires_at` on the file may be purged.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    media_type = models.CharField(max_length=32)
    size = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(db_index=True)

    @property
    def name(self) -> str:
        return file_name(self.pk, self.media_type)
