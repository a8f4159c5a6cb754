"""Indexes of tables that calls write to, made and removed while they do.

Such a migration has `atomic = False`, so that what it has done stays where it fails half-way. With
these operations it can be repeated: `migrate` is run again.
"""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently


class _Repeatable:
    """Removes an index of that name first, such as an invalid one that an earlier attempt has left.
    Waits for running transactions as long as they take: meanwhile nobody waits for it."""

    index_name: str

    def database_forwards(self, app_label: str, schema_editor: Any, *states: Any) -> None:
        self._repeatably(super().database_forwards, app_label, schema_editor, *states)  # type: ignore[misc]

    def database_backwards(self, app_label: str, schema_editor: Any, *states: Any) -> None:
        self._repeatably(super().database_backwards, app_label, schema_editor, *states)  # type: ignore[misc]

    def _repeatably(self, change: Any, app_label: str, schema_editor: Any, *states: Any) -> None:
        name = schema_editor.quote_name(self.index_name)
        schema_editor.execute("SET lock_timeout = 0")
        try:
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            change(app_label, schema_editor, *states)
        finally:
            schema_editor.execute("RESET lock_timeout")


class AddIndexRepeatably(_Repeatable, AddIndexConcurrently):
    @property
    def index_name(self) -> str:  # type: ignore[override]
        return self.index.name


class RemoveIndexRepeatably(_Repeatable, RemoveIndexConcurrently):
    @property
    def index_name(self) -> str:  # type: ignore[override]
        return self.name
