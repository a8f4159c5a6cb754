"""Set the database up, and make the demo: `python -m devserver.prepare [--demo]`.

One process for all, because starting Django takes longer than the work. It prints a line for each
step.
"""

import argparse
import json
import sys
import time
from io import StringIO

import django
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

# Of the demo's cast (`demo.cast`).
COLLEAGUES = ("priya.nair@example.com", "lena.vogt@example.com")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m devserver.prepare", description=__doc__)
    parser.add_argument("--demo", action="store_true", help="create the demo accounts too")
    demo: bool = parser.parse_args().demo
    django.setup()
    try:
        call_command("setup", local=True)
    except CommandError as error:
        sys.exit(str(error))
    if demo:
        make_demo()


def make_demo() -> None:
    """The demo accounts, with what they have, and their credentials in VAR_DIR."""
    _step("create_demo", "--write", str(settings.DEMO_FILE))
    email = json.loads(settings.DEMO_FILE.read_text())["email"]
    _step("create_demo_conversations", email)
    _step("create_demo_runs", email)
    _step("create_demo_gallery", email)
    _step("create_demo_content")
    _step("create_demo_team", email, *COLLEAGUES)


def _step(command: str, *arguments: str) -> None:
    """Run a command; what it says becomes one line, with its seconds."""
    began_at, said = time.monotonic(), StringIO()
    call_command(command, *arguments, stdout=said)
    lines = " ".join(said.getvalue().split("\n")).strip()
    if lines:
        print(f"{lines} ({time.monotonic() - began_at:.1f} s)", flush=True)  # noqa: T201 - its output


if __name__ == "__main__":
    main()
