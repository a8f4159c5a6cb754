"""Installs an app's SQL functions (its folder `sql/`) into the database.

They are code, not schema: every `migrate` replaces them all (CREATE OR REPLACE), in file order, so
that the database runs what the repository has. docs/decisions/0002 says why functions.
"""

import sys
from pathlib import Path
from typing import Any, TextIO

from django.apps import AppConfig
from django.db import connections, transaction
from django.db.migrations.loader import MigrationLoader


def install_functions(
    app_config: AppConfig,
    using: str = "default",
    verbosity: int = 1,
    stdout: TextIO = sys.stdout,
    **_: Any,
) -> None:
    """Create or replace every function of the app, in one transaction. Connected to `post_migrate`.

    It does nothing before the app's newest migration is applied: the functions need its tables.
    """
    if not is_migrated(app_config.label, using):
        if verbosity:
            name = app_config.label
            stdout.write(f"SQL functions left as they are: {name} has unapplied migrations.\n")
        return
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        for path in sorted((Path(app_config.path) / "sql").glob("*.sql")):
            cursor.execute(path.read_text())


def is_migrated(app: str, using: str) -> bool:
    """Is the newest migration of the app applied?"""
    loader = MigrationLoader(connections[using])
    return all(leaf in loader.applied_migrations for leaf in loader.graph.leaf_nodes(app))
