"""Counting how often a password is hashed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import override_settings


class CountingHasher(MD5PasswordHasher):
    """The hasher of the tests, which notes each password it hashes or checks."""

    hashed: ClassVar[list[str]] = []

    def encode(self, password: str, salt: str) -> str:
        self.hashed.append(password)
        return super().encode(password, salt)


@contextmanager
def counted_hashes() -> Iterator[list[str]]:
    """The passwords that are hashed until the block ends."""
    CountingHasher.hashed.clear()
    with override_settings(PASSWORD_HASHERS=[f"{__name__}.CountingHasher"]):
        yield CountingHasher.hashed
