#!/usr/bin/env python
"""Django's command line, with `platform/` and `tools/` on the path (see platform/README.md)."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    sys.path[1:1] = [str(ROOT / "platform"), str(ROOT / "tools")]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError, OperationalError

    from common.set_up import first_line, is_missing

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except OperationalError as error:
        sys.exit(f"The database cannot be used: {first_line(error)}")
    except DatabaseError as error:
        if not is_missing(error):
            raise
        sys.exit(f"The database is not set up: run `manage.py setup`. ({first_line(error)})")


if __name__ == "__main__":
    main()
