"""`manage.py create_demo_conversations EMAIL`: conversations to look at. Development only; may be
run again."""

from typing import Any

from accounts.models import User
from demo.commands import FillAccount
from demo.conversations import write_conversations


class Command(FillAccount):
    help = (
        "Write a few conversations of an account that has none, with models of simulated "
        "providers. No provider is called."
    )
    subject = "conversations"

    def fill(self, user: User, **options: Any) -> None:
        if written := write_conversations(user):
            self.stdout.write(f"Wrote {written} conversations of {user.email}.")
