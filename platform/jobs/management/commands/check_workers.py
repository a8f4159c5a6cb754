"""`manage.py check_workers`: do workers take what is in the queues? Exits with 1 if not."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.canaries import silent_queues


class Command(BaseCommand):
    help = "Check that all queues are served. Exits with 1 and names those that are not."

    def handle(self, *args: Any, **options: Any) -> None:
        if silent := silent_queues():
            raise CommandError(f"For a minute nothing was taken from: {', '.join(silent)}.")
        self.stdout.write("Every queue is served.")
