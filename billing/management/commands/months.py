"""`manage.py months`: list the months of charges, make them ahead, close one, drop one."""

from argparse import ArgumentTypeError
from datetime import date, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from billing.services import months


def _month(text: str) -> date:
    try:
        return datetime.strptime(text, "%Y-%m").date()  # noqa: DTZ007 - a month has no time
    except ValueError as error:
        raise ArgumentTypeError("A month is written as 2026-11.") from error


class Command(BaseCommand):
    help = "List the months of charges; with an option, make them ahead, close one, or drop one."

    def add_arguments(self, parser: CommandParser) -> None:
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--ahead", action="store_true", help="make the next months")
        act.add_argument("--close", type=_month, metavar="MONTH", help="such as 2026-11")
        act.add_argument("--drop", type=_month, metavar="MONTH", help="a month that is closed")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["ahead"]:
                for month in months.make_ahead():
                    self.stdout.write(f"{month:%Y-%m} is made.")
            elif month := options["close"]:
                closed = months.close_month(month)
                self.stdout.write(f"{month:%Y-%m} is closed with {closed.charges:,} charges.")
            elif month := options["drop"]:
                seconds = months.drop_month(month)
                self.stdout.write(f"{month:%Y-%m} is dropped: {seconds * 1000:.0f} ms.")
            else:
                self._list()
        except months.MonthRefused as refused:
            raise CommandError(str(refused)) from refused

    def _list(self) -> None:
        for month in months.list_months():
            state = f"closed with {month.closed.charges:,} charges" if month.closed else "open"
            self.stdout.write(f"{month.period:%Y-%m}  {month.size >> 20:>8,} MB  {state}")
        if strays := months.count_strays():
            self.stdout.write(f"{strays:,} charges are in no month.")
