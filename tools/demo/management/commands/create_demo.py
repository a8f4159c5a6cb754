"""`manage.py create_demo`: accounts to try the service with. Development only; may be run again."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import msgspec
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from demo.accounts import Demo, ensure_demo
from demo.calls import DAYS
from demo.history import newcomers, write_history


class Command(BaseCommand):
    help = (
        "Make a demo account with two API keys and money, an operator, and a dozen accounts with "
        f"{DAYS} days of usage. Run `setup` first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--write",
            type=Path,
            metavar="PATH",
            help="keep the credentials in this file, readable by its owner alone; "
            "without it they are new each time, and printed",
        )
        parser.add_argument(
            "--no-history",
            dest="history",
            action="store_false",
            help=f"leave out the other accounts, and the {DAYS} days of usage",
        )

    def handle(self, *args: Any, write: Path | None, history: bool, **options: Any) -> None:
        if not settings.DEMO_SEEDS:
            raise CommandError("Demo accounts are off here. DEMO=1 allows them, in development.")
        if history:
            self._write_history(is_verbose=write is not None)
        if write is None:
            self.stdout.write(_encode(ensure_demo(None)).decode())
            return
        try:
            demo = ensure_demo(_read(write))
            _replace(write, _encode(demo))
        except OSError as error:
            raise CommandError(f"{write} cannot be used: {error.strerror}.") from None
        self.stdout.write(f"Demo account {demo.email}: the credentials are in {write}.")

    def _write_history(self, *, is_verbose: bool) -> None:
        people = newcomers()
        if people and is_verbose:
            self.stdout.write(f"Writing {DAYS} days of usage by {len(people)} demo accounts.")
        write_history(people=people, now=timezone.now())


def _read(path: Path) -> Demo | None:
    """The file of an earlier run; None where there is none or it is malformed."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Demo)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _encode(demo: Demo) -> bytes:
    return msgspec.json.format(msgspec.json.encode(demo), indent=2)


def _replace(path: Path, content: bytes) -> None:
    """Write the file whole or not at all. A temporary file is its owner's alone (0600)."""
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content + b"\n")
    os.replace(file.name, path)
