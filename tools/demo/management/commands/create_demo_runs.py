"""`manage.py create_demo_runs EMAIL`: project runs to look at. Development only; may be run
again."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from demo.project_runs import write_runs
from demo.repository import REPOSITORY, write_repository_run


class Command(BaseCommand):
    help = (
        "Write three finished runs and one whose plan waits, for an account that has no runs, and "
        "one on a repository of the simulated GitHub, where there is a simulator. No provider is "
        "called."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="of the account, such as that of create_demo")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        if not settings.DEMO_SEEDS:
            raise CommandError("Demo runs are off here. DEMO=1 allows them, in development.")
        user = User.objects.filter(email=email).first()
        if user is None:
            raise CommandError(f"No account has the address {email}.")
        if written := write_runs(user):
            self.stdout.write(f"Wrote {written} project runs of {email}.")
        if settings.SIMULATOR_URL and write_repository_run(user, settings.SIMULATOR_URL):
            self.stdout.write(f"Wrote a run of {email} on the repository {REPOSITORY}.")
