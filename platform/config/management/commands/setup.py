"""`manage.py setup`: the one way to set up a database, and to bring it up to a release."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getpass
from typing import Any

import psycopg
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from accounts.addresses import validate_address
from accounts.errors import EmailTaken
from accounts.services.operators import create_first_operator, has_operator
from ai.catalog.services import seed_catalog
from billing.services.plans import seed_plans
from common.connections import demand, problems
from common.errors import ValidationFailed
from common.locks import try_lock
from common.set_up import first_line

LOCK = "config.setup"
PASSWORD_VARIABLE = "OPERATOR_PASSWORD"  # noqa: S105 - the name of a variable
# Seconds between two looks whether another host is done.
LOOK_SECONDS = 0.5
# Of more migrations than that, only the number is printed.
NAMED_MIGRATIONS = 5


class Command(BaseCommand):
    help = (
        "Set up the database, or bring it up to this release: tables and functions, models with "
        "prices, plans, and the first operator. Safe to repeat, also from several hosts at once; "
        "what operators have changed stays."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--operator",
            metavar="ADDRESS",
            default=os.environ.get("OPERATOR_EMAIL", ""),
            help="make the first operator, where there is none; the password is that of "
            f"{PASSWORD_VARIABLE}, or is asked for at a terminal (default: OPERATOR_EMAIL)",
        )
        parser.add_argument(
            "--local", action="store_true", help="also list the models served on this machine"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with self._alone():
                self._check_connections()
                self._migrate()
                self._seed(local=options["local"])
                self._make_operator(options["operator"].strip().lower())
        except (DatabaseError, psycopg.OperationalError) as error:
            raise CommandError(
                f"The database cannot be prepared: {first_line(error)}. Its user must be able to "
                "connect, and to create and change tables."
            ) from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other host sets the database up."""
        has_said = False
        while True:
            with try_lock(LOCK) as is_acquired:
                if is_acquired:
                    yield
                    return
            if not has_said:
                self.stdout.write("Waiting for another `setup` of this database.")
                has_said = True
            time.sleep(LOOK_SECONDS)

    def _check_connections(self) -> None:
        """In production only: elsewhere few processes run, and use few of what they may."""
        if not settings.PRODUCTION:
            return
        if found := problems():
            raise CommandError(" ".join(found))
        self.stdout.write(f"Connections: the processes open at most {demand()}.")

    def _migrate(self) -> None:
        with self._timed() as say:
            before = _applied()
            call_command("migrate", interactive=False, verbosity=0)
            names = [".".join(name) for name in _applied() if name not in before]
            named = f" ({', '.join(names)})" if 0 < len(names) <= NAMED_MIGRATIONS else ""
            say(f"Migrations: {len(names)} applied{named}, {len(before)} were there.")

    def _seed(self, *, local: bool) -> None:
        with self._timed() as say:
            catalog = seed_catalog(local=local)
            say(
                f"Catalog: {catalog.models} models listed, {catalog.added} added, "
                f"{catalog.updated} updated, {catalog.prices_added} prices added."
            )
        with self._timed() as say:
            plans = seed_plans()
            say(f"Plans: {plans.plans} added, {plans.allowances} allowances added.")

    def _make_operator(self, address: str) -> None:
        if has_operator():
            self.stdout.write("Operator: there is one; others are made in the admin.")
        elif not address:
            if settings.DEMO_SEEDS:
                return  # the demo brings one
            self.stdout.write("Operator: none. `manage.py setup --operator ADDRESS` makes one.")
        else:
            password = self._operators_password(address)
            try:
                create_first_operator(email=address, password=password)
            except ValidationFailed as error:
                raise CommandError(f"No operator was made. {error.text}") from None
            except EmailTaken:
                raise CommandError(
                    f"No operator was made: {address} has an account already. Take another address."
                ) from None
            self.stdout.write(
                f"Operator: {address} was made, who signs in at {settings.PUBLIC_BASE_URL}/admin/."
            )

    def _operators_password(self, address: str) -> str:
        """That of the environment, or what is typed twice."""
        try:
            validate_address(address)
        except ValidationError as error:
            raise CommandError(f"No operator was made. {' '.join(error.messages)}") from None
        if password := os.environ.get(PASSWORD_VARIABLE, ""):
            return password
        if not sys.stdin.isatty():
            raise CommandError(
                f"No operator was made: set {PASSWORD_VARIABLE}, or run this at a terminal."
            )
        password = getpass(f"Password of {address}: ")
        if getpass("The same again: ") != password:
            raise CommandError("No operator was made: that was not the same password.")
        return password

    @contextmanager
    def _timed(self) -> Iterator[Any]:
        """A function that prints a line with the seconds since the block began."""
        began_at = time.monotonic()
        yield lambda line: self.stdout.write(f"{line} ({time.monotonic() - began_at:.1f} s)")


def _applied() -> dict[tuple[str, str], Any]:
    """In the order in which they were applied."""
    applied: dict[tuple[str, str], Any] = MigrationRecorder(connection).applied_migrations()
    return applied
