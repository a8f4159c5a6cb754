"""The rows of stored files; their bytes are in the storages `outputs` and `uploads`."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from common.ids import uuid7
from media.files.types import file_name


class StoredFile(models.Model):
    """A file that a model made for an account, or an export of the account's data. It never
    changes, unless an operator takes it down: that deletes its bytes.

    `size` is in bytes. From `expires_at` on the file may be purged; null: never. `is_kept`: it is
    in a gallery, and counts towards the account's quota. `thumbnail_of` is the file that this one
    is shown for as a small picture, and is taken down with.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    media_type = models.CharField(max_length=32)
    size = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, db_index=True)
    is_kept = models.BooleanField(db_default=False)
    thumbnail_of = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        null=True,
        related_name="+",
    )
    taken_down_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["thumbnail_of"],
                condition=Q(thumbnail_of__isnull=False),
                name="storedfile_thumbnails",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def name(self) -> str:
        return file_name(self.pk, self.media_type)


class StorageUse(models.Model):
    """The bytes of an account's kept files, thumbnails included, without those that were taken
    down. A trigger counts them (`sql/10_storage.sql`)."""

    account = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        db_constraint=False,
        related_name="+",
    )
    bytes = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return str(self.pk)


class Upload(models.Model):
    """A file that a user has uploaded. It never changes, unless an operator takes it down: that
    deletes its bytes, and sets `is_text` to false.

    `name` is the user's file name, made harmless; the path in the storage is derived from the id.
    `media_type` is detected from the bytes; `is_text`: they are UTF-8 text, which models can read.
    `size` is in bytes. A file without an attachment is purged from `expires_at` on; null: it is
    attached.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    name = models.CharField(max_length=255)
    media_type = models.CharField(max_length=100)
    is_text = models.BooleanField()
    size = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, db_index=True)
    taken_down_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["account", "-id"], name="upload_newest_first")]

    def __str__(self) -> str:
        return str(self.pk)
