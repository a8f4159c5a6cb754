"""What the commands share that fill the account of a demo user."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User


class FillAccount(BaseCommand):
    """A command that fills an account with `subject`, where the settings allow it."""

    subject: str

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="of the account, such as that of create_demo")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        if not settings.DEMO_SEEDS:
            raise CommandError(
                f"Demo {self.subject} are off here. DEMO=1 allows them, in development."
            )
        self.fill(find_user(email), **options)

    def fill(self, user: User, **options: Any) -> None:
        """Fill the account, unless it has something already."""
        raise NotImplementedError


def find_user(email: str) -> User:
    """The user with that address. Raises CommandError."""
    user = User.objects.filter(email=email).first()
    if user is None:
        raise CommandError(f"No account has the address {email}.")
    return user
