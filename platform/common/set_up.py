"""Is the database set up? `manage.py setup` sets it up (config/management/commands/setup.py)."""

import structlog
from psycopg import errors

log = structlog.get_logger(__name__)

# A table, a function, or the plan of new accounts (billing/sql/10_accounts.sql).
_MISSING = (errors.UndefinedTable, errors.UndefinedFunction, errors.UndefinedObject)


def is_missing(error: BaseException | None) -> bool:
    """Is this what a database says that is not set up, or not for this release?"""
    while error is not None:
        if isinstance(error, _MISSING):
            return True
        error = error.__cause__
    return False


def first_line(error: BaseException) -> str:
    """What PostgreSQL says, without the place in the statement and what Django adds."""
    return str(error.__cause__ or error.__context__ or error).strip().partition("\n")[0]


def report_missing(error: BaseException) -> None:
    """Log it without a traceback: before the set-up all work and all requests end here."""
    log.error("database_not_set_up", error=first_line(error))
