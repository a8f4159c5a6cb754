"""Migrating while replies are written."""

from django.db.migrations import AddConstraint, AddIndex, RemoveIndex
from django.db.migrations.loader import MigrationLoader


def test_indexes_are_made_and_removed_without_a_lock_on_their_tables() -> None:
    migrations = MigrationLoader(None).disk_migrations
    later = [
        migration
        for (app, name), migration in migrations.items()
        if app == "conversations" and name > "0003"
    ]
    assert len(later) >= 3
    for migration in later:
        if migration.atomic:
            for operation in migration.operations:
                assert not isinstance(operation, AddConstraint | AddIndex | RemoveIndex)
