"""Bring the database up to date and seed it: `python -m common.local.prepare [--demo]`.

One process for all, because starting Django takes longer than the work.
"""

import argparse

import django
from django.conf import settings
from django.core.management import call_command


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m common.local.prepare", description=__doc__)
    parser.add_argument("--demo", action="store_true", help="create the demo accounts too")
    demo: bool = parser.parse_args().demo
    django.setup()
    call_command("migrate", "--no-input")
    call_command("seed_catalog", "--local")
    call_command("seed_plans")
    if demo:
        call_command("create_demo", "--write", str(settings.VAR_DIR / "demo.json"))


if __name__ == "__main__":
    main()
