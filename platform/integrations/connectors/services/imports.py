"""Imports files of connected drives into uploads."""

from uuid import UUID

from django.core.files.base import ContentFile

from accounts.models import User
from common.errors import ValidationFailed
from common.multipart import MAX_FILE_BYTES
from integrations.connectors.selectors.connectors import get_drive_connector
from integrations.connectors.services.drives import open_drive
from integrations.safe_http.errors import Rejected
from media.files.models import Upload
from media.files.services import uploads


def import_file(*, user: User, connector_id: UUID, file_id: str) -> Upload:
    """Copy a file of a connected drive into the user's uploads.

    Raises NotFound, ValidationFailed for a file that is too large or has no content,
    UploadQuotaExceeded, StorageUnavailable, and the errors of `open_drive`.
    """
    connector = get_drive_connector(user, connector_id)
    with open_drive(connector) as drive:
        file = drive.get_file(file_id)
        try:
            name, content = drive.download(file, max_bytes=MAX_FILE_BYTES)
        except Rejected as error:
            raise ValidationFailed.of("file_id", str(error)) from None
    return uploads.store(user=user, name=name, file=ContentFile(content, name))
