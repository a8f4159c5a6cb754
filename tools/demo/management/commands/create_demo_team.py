"""`manage.py create_demo_team EMAIL COLLEAGUE...`: a team to look at. Development only; may be run
again."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from demo.team import create_team


class Command(BaseCommand):
    help = "Create a team of an account with colleagues, unless one of them is in a team."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="of the owner, such as that of create_demo")
        parser.add_argument("colleagues", nargs="+", help="their addresses, an admin first")

    def handle(self, *args: Any, email: str, colleagues: list[str], **options: Any) -> None:
        if not settings.DEMO_SEEDS:
            raise CommandError("Demo teams are off here. DEMO=1 allows them, in development.")
        owner, *others = (_find(address) for address in (email, *colleagues))
        if create_team(owner, others):
            self.stdout.write(f"Created a team of {len(others) + 1} for {email}.")


def _find(email: str) -> User:
    user = User.objects.filter(email=email).first()
    if user is None:
        raise CommandError(f"No account has the address {email}.")
    return user
