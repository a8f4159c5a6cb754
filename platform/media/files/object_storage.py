"""Files in a bucket of an S3-compatible service."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from storages.backends.s3 import S3Storage

_NOT_FOUND = 404
_PART_BYTES = 8 * 1024 * 1024
# Connections of a process: as many as it has threads that read.
_CONNECTIONS = 40


class ObjectStorage(S3Storage):  # type: ignore[misc]
    """A bucket. It raises OSError as a folder does, and holds no file in memory.

    django-storages reads a whole object before it gives the first byte of it, and sends ten parts
    of one at a time, each from memory.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **options,
            client_config=_client_config(options.get("addressing_style")),
            transfer_config=TransferConfig(multipart_chunksize=_PART_BYTES, use_threads=False),
        )

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        source = self.bucket.Object(self._normalize_name(name))
        with os_errors():
            source.load()
        return File(ObjectReader(source), name)  # type: ignore[arg-type]

    def _save(self, name: str, content: File[bytes]) -> str:
        with os_errors():
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        with os_errors():
            super().delete(name)

    def size(self, name: str) -> int:
        with os_errors():
            return int(super().size(name))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        with os_errors():
            folders, names = super().listdir(path)
            return folders, names

    def exists(self, name: str) -> bool:
        with os_errors():
            return bool(super().exists(name))


def _client_config(addressing_style: str | None) -> Config:
    return Config(
        signature_version="s3v4",
        s3={"addressing_style": addressing_style},
        connect_timeout=5,
        read_timeout=20,
        retries={"mode": "standard", "max_attempts": 3},
        max_pool_connections=_CONNECTIONS,
        # Services other than Amazon's do not know the newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


class ObjectReader(io.RawIOBase):
    """Reads an object from any position, as it arrives. Raises OSError."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._size: int = source.content_length
        self._position = 0
        self._body: Any = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if start + offset != self._position:
            self._stop()
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read what comes next, at most as much as fits. 0 at the end."""
        if self._position >= self._size or not len(buffer):
            return 0
        with os_errors():
            if self._body is None:
                self._body = self._source.get(Range=f"bytes={self._position}-")["Body"]
            data = self._body.read(len(buffer))
        if not data:
            raise OSError("The object ended early.")
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        self._stop()
        super().close()

    def _stop(self) -> None:
        """The rest of the answer is not wanted."""
        if self._body is not None:
            self._body.close()
            self._body = None


@contextmanager
def os_errors() -> Iterator[None]:
    """Turn the errors of the service, and of the way to it, into OSError; a missing object into
    FileNotFoundError."""
    try:
        yield
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == _NOT_FOUND:
            raise FileNotFoundError(str(error)) from error
        raise OSError(str(error)) from error
    except (BotoCoreError, Boto3Error) as error:
        raise OSError(str(error)) from error
