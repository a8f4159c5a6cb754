"""Errors of exports, and of the deletion of accounts' data."""

from common.errors import TooManyRequests
from privacy.types import MAX_EXPORTS_PER_DAY


class TooManyExports(TooManyRequests):
    code = "too_many_exports"
    message = f"An account's data can be exported {MAX_EXPORTS_PER_DAY} times in 24 hours."


class ExportStopped(Exception):
    """The export is not wanted any more, or another attempt makes it."""


class TimeIsUp(Exception):
    """The deletion goes on with the next sweep."""
