"""`manage.py create_demo_runs EMAIL`: project runs to look at. Development only; may be run
again."""

from typing import Any

from django.conf import settings

from accounts.models import User
from demo.commands import FillAccount
from demo.library import REPOSITORY
from demo.project_runs import write_runs
from demo.repository import write_repository_run


class Command(FillAccount):
    help = (
        "Write three finished runs and one whose plan waits, for an account that has no runs, and "
        "one on a repository of the simulated GitHub, where there is a simulator. No provider is "
        "called."
    )
    subject = "runs"

    def fill(self, user: User, **options: Any) -> None:
        if written := write_runs(user):
            self.stdout.write(f"Wrote {written} project runs of {user.email}.")
        if settings.SIMULATOR_URL and write_repository_run(user, settings.SIMULATOR_URL):
            self.stdout.write(f"Wrote a run of {user.email} on the repository {REPOSITORY}.")
