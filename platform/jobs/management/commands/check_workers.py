"""`manage.py check_workers`: do workers take messages of all queues? Exits with 1 if not."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from jobs.heartbeats import silent_queues


class Command(BaseCommand):
    help = "Check that all queues are served. Exits with 1 and names those that are not."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            silent = silent_queues()
        except OperationalError as error:
            raise CommandError("The database cannot be reached.") from error
        if silent:
            raise CommandError(f"No message was taken for a minute from: {', '.join(silent)}.")
        self.stdout.write("Every queue is served.")
