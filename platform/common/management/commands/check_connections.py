"""`manage.py check_connections`: has PostgreSQL as many connections as the processes may open?"""

from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from common.connections import demand, problems


class Command(BaseCommand):
    help = (
        "Add up the connections that all processes may open, and compare them with those that "
        "PostgreSQL has. Exits with 1 and a sentence where they are too many."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = problems()
        except psycopg.OperationalError as error:
            raise CommandError(f"The database cannot be reached: {error}") from error
        if found:
            raise CommandError(" ".join(found))
        where = "the pooler" if settings.DATABASE_POOLER else "PostgreSQL, which has as many"
        self.stdout.write(f"The processes open at most {demand()} to {where}.")
