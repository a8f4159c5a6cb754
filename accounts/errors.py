"""Refusals of the accounts app."""

from common.errors import Conflict, Forbidden, Unauthenticated


class InvalidToken(Unauthenticated):
    """One text for every cause: a forged token learns nothing about why it failed."""

    code = "invalid_token"
    message = "The token is invalid, expired or revoked. Sign in again."


class InvalidCredentials(Unauthenticated):
    """Wrong password and unknown address alike."""

    code = "invalid_credentials"
    message = "The e-mail address or the password is wrong."


class AccountSuspended(Forbidden):
    code = "account_disabled"
    message = "This account is suspended."


class AccountDeactivated(Conflict):
    code = "account_deactivated"
    message = "This account is deactivated; it can only be reactivated."


class EmailTaken(Conflict):
    code = "email_taken"
    message = "There is an account with this e-mail address already."


class TooManyKeys(Conflict):
    code = "too_many_keys"
    message = "An account has at most 5 active API keys. Revoke one first."


class KeyRevoked(Conflict):
    code = "key_revoked"
    message = "This API key is revoked and cannot be changed."
