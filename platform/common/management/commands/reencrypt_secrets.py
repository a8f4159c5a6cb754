"""`manage.py reencrypt_secrets`: encrypts stored secrets under the newest key."""

from typing import Any

from django.core.management.base import BaseCommand

from common.encryption import reencrypt_all


class Command(BaseCommand):
    help = (
        "Encrypt all stored secrets under the first of ENCRYPTION_KEYS, so that the others can be "
        "removed."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done, unreadable = reencrypt_all()
        self.stdout.write(f"Encrypted under the newest key: {done}.")
        if unreadable:
            self.stdout.write(f"Left as they are, because no key reads them: {unreadable}.")
