"""Errors of exports, and of the deletion of accounts' data."""

from common.errors import Conflict, TooManyRequests, ValidationFailed
from userdata.types import MAX_EXPORTS_PER_DAY


class TooManyExports(TooManyRequests):
    code = "too_many_exports"
    message = f"An account's data can be exported {MAX_EXPORTS_PER_DAY} times in 24 hours."


class ExportStopped(Exception):
    """The export is not wanted any more, or another attempt makes it."""


class WrongAddress(ValidationFailed):
    message = "This is not the address of the account."


class OperatorKept(Conflict):
    code = "operator_kept"
    message = "This account is an operator's. Take away its rank first."
