"""`manage.py check_workers [QUEUE ...]`: do workers take messages of all queues, or of these? Exits
with 1 if not."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from work.jobs.heartbeats import silent_queues
from work.jobs.models import Job


class Command(BaseCommand):
    help = "Check that all queues are served. Exits with 1 and names those that are not."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queues", nargs="*", help="these queues alone; otherwise all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := set(options["queues"]) - set(Job.Queue.values):
            raise CommandError(f"There is no queue {', '.join(sorted(unknown))}.")
        try:
            silent = silent_queues()
        except OperationalError as error:
            raise CommandError("The database cannot be reached.") from error
        silent = [queue for queue in silent if queue in (options["queues"] or silent)]
        if silent:
            raise CommandError(f"No message was taken for a minute from: {', '.join(silent)}.")
        self.stdout.write(f"Served: {', '.join(options['queues']) or 'every queue'}.")
