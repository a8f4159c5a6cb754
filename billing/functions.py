"""Installs the money functions of `billing/sql/` into the database.

They are code, not schema: every `migrate` replaces them all (CREATE OR REPLACE), in file order, so
that what runs is what stands in the repository. Why functions: docs/decisions/0002.
"""

import sys
from pathlib import Path
from typing import Any, TextIO

from django.db import connections, transaction
from django.db.migrations.loader import MigrationLoader

SQL_DIR = Path(__file__).parent / "sql"


def install_functions(
    using: str = "default", verbosity: int = 1, stdout: TextIO = sys.stdout, **_: Any
) -> None:
    """Create or replace every function, in one transaction. Connected to `post_migrate`.

    Before billing's newest migration they are left alone: they need its tables.
    """
    if not _is_migrated(using):
        if verbosity:
            stdout.write("Money functions left as they are: billing has unapplied migrations.\n")
        return
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        for path in sorted(SQL_DIR.glob("*.sql")):
            cursor.execute(path.read_text())


def _is_migrated(using: str) -> bool:
    loader = MigrationLoader(connections[using])
    return all(leaf in loader.applied_migrations for leaf in loader.graph.leaf_nodes("billing"))
