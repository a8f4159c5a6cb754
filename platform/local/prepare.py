"""Bring the database up to date and seed it: `python -m local.prepare [--demo]`.

One process for all, because starting Django takes longer than the work.
"""

import argparse
import json
import sys

import django
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError

# Of the demo's cast (`publicapi.demo.cast`).
COLLEAGUES = ("priya.nair@example.com", "lena.vogt@example.com")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.prepare", description=__doc__)
    parser.add_argument("--demo", action="store_true", help="create the demo accounts too")
    demo: bool = parser.parse_args().demo
    django.setup()
    try:
        prepare(demo=demo)
    except DatabaseError as error:
        # The first line of PostgreSQL's message, without Django's additions.
        reason = str(error.__context__ or error).strip().splitlines()[0]
        sys.exit(
            f"The database cannot be prepared: {reason}. Its user must be able to connect, and to "
            "create and change tables."
        )


def prepare(*, demo: bool) -> None:
    """Raises DatabaseError where the database cannot be reached, or does not allow it."""
    call_command("migrate", "--no-input")
    call_command("seed_catalog", "--local")
    call_command("seed_plans")
    if demo:
        credentials = settings.VAR_DIR / "demo.json"
        call_command("create_demo", "--write", str(credentials))
        email = json.loads(credentials.read_text())["email"]
        call_command("create_demo_runs", email)
        call_command("create_demo_gallery", email)
        call_command("create_demo_content")
        call_command("create_demo_team", email, *COLLEAGUES)


if __name__ == "__main__":
    main()
