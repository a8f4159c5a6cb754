"""`manage.py create_demo_conversations EMAIL`: conversations to look at. Development only; may be
run again."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from demo.conversations import write_conversations


class Command(BaseCommand):
    help = (
        "Write a few conversations of an account that has none, with models of simulated "
        "providers. No provider is called."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="of the account, such as that of create_demo")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        if not settings.DEMO_SEEDS:
            raise CommandError(
                "Demo conversations are off here. DEMO=1 allows them, in development."
            )
        user = User.objects.filter(email=email).first()
        if user is None:
            raise CommandError(f"No account has the address {email}.")
        if written := write_conversations(user):
            self.stdout.write(f"Wrote {written} conversations of {email}.")
