"""Installs the money functions of `billing/sql/` into the database.

They are code, not schema: every `migrate` replaces them all (CREATE OR REPLACE), in file order, so
that what runs is what stands in the repository. Why functions: docs/decisions/0002.
"""

from pathlib import Path
from typing import Any

from django.db import connections, transaction

SQL_DIR = Path(__file__).parent / "sql"


def install_functions(using: str = "default", **_: Any) -> None:
    """Create or replace every function, in one transaction. Connected to `post_migrate`."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        for path in sorted(SQL_DIR.glob("*.sql")):
            cursor.execute(path.read_text())
