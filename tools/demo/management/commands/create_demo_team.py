"""`manage.py create_demo_team EMAIL COLLEAGUE...`: a team to look at. Development only; may be run
again."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.models import User
from demo.commands import FillAccount, find_user
from demo.team import create_team


class Command(FillAccount):
    help = "Create a team of an account with colleagues, unless one of them is in a team."
    subject = "teams"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("colleagues", nargs="+", help="their addresses, an admin first")

    def fill(self, user: User, **options: Any) -> None:
        others = [find_user(address) for address in options["colleagues"]]
        if create_team(user, others):
            self.stdout.write(f"Created a team of {len(others) + 1} for {user.email}.")
