"""Errors of the content app."""

from common.errors import Conflict, ValidationFailed
from content.types import MAX_USERS


class UnknownAccount(ValidationFailed):
    """An operator has named an account that does not exist."""

    code = "unknown_account"
    message = "No account has this address or id."


class TooManyUsers(Conflict):
    code = "too_many_users"
    message = f"A flag is set for at most {MAX_USERS:,} users. Use a plan or a share."
