"""SQL over Django's connection, within the caller's transaction if there is one."""

from typing import Any

from django.db import connection

Row = tuple[Any, ...]


def fetch_rows(sql: str, *parameters: Any) -> list[Row]:
    """The rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def fetch_row(sql: str, *parameters: Any) -> Row:
    """The first row of a statement that always has one."""
    return fetch_rows(sql, *parameters)[0]
