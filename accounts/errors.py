"""Errors of the accounts app."""

import math

from common.errors import (
    Conflict,
    Forbidden,
    ServiceUnavailable,
    TooManyRequests,
    Unauthenticated,
    ValidationFailed,
)


class InvalidToken(Unauthenticated):
    """One text for every cause: it does not reveal why a forged token failed."""

    code = "invalid_token"
    message = "The token is invalid, expired or revoked. Sign in again."


class NotSignedIn(Unauthenticated):
    """Of a page that asks for the pair of its cookie: there is no cookie (any more)."""

    code = "not_signed_in"
    message = "Nobody is signed in in this browser. Sign in."


class ForeignOrigin(Forbidden):
    """The cookie is for pages of the service itself."""

    code = "foreign_origin"
    message = "Only pages of this service sign in by cookie, and `Origin` names none of them."


class InvalidIdToken(InvalidToken):
    """One text for every cause, as for InvalidToken."""

    code = "invalid_id_token"
    message = "The ID token is invalid or expired. Sign in with Google again."


class IdTokenUsed(Unauthenticated):
    """The token is genuine, but used. The code tells the client to get another token."""

    code = "id_token_used"
    message = "This ID token has signed in already. Sign in with Google again."


class InvalidCredentials(Unauthenticated):
    """The text is the same for a wrong password and an unknown address."""

    code = "invalid_credentials"
    message = "The e-mail address or the password is wrong."


class TooManyAttempts(TooManyRequests):
    """Too many wrong passwords or codes were sent for this address. The text is the same for an
    address that no account has."""

    code = "too_many_attempts"
    message = "Too many attempts failed. Try again later."

    def __init__(self, seconds: int) -> None:
        minutes = math.ceil(seconds / 60)
        wait = "a minute" if minutes == 1 else f"{minutes} minutes"
        text = f"Too many attempts failed. Try again in {wait}."
        super().__init__(text, retry_after=seconds)


class WrongCode(Conflict):
    """The code of an operator's second factor was wrong."""

    code = "wrong_code"
    message = "This is not a code of your app, or it was used before. Enter the next one."


class SecondFactorExists(Conflict):
    code = "second_factor_exists"
    message = "A second factor is set up already. Reload this page."


class TooManySignUps(TooManyRequests):
    """One network, or one mailbox under several addresses, has created too many accounts."""

    code = "too_many_signups"
    message = "Too many accounts were made from here, or with this mailbox. Try again later."


class SignUpClosed(Forbidden):
    """Operators have closed the sign-up (`content.flags.SIGN_UP`)."""

    code = "sign_up_closed"
    message = "New accounts cannot be made at the moment. Accounts that exist can sign in."


class TooManyEmails(TooManyRequests):
    """A network has requested too many mails, whatever their addresses."""

    code = "too_many_emails"
    message = "Too many mails were requested from your network. Try again later, or from another."


class InvalidEmailedToken(ValidationFailed):
    """One text for every cause: used, expired, or of another user."""

    code = "invalid_emailed_token"
    problem = "This link was used already, has expired or is not for you. Ask for a new one."

    def __init__(self) -> None:
        super().__init__(f"token: {self.problem}", errors=[{"loc": ["token"], "msg": self.problem}])


class AccountSuspended(Forbidden):
    code = "account_disabled"
    message = "This account is suspended."


class AccountDeactivated(Conflict):
    code = "account_deactivated"
    message = "This account is deactivated; it can only be reactivated."


class AccountDeleted(Conflict):
    code = "account_deleted"
    message = "The data of this account is deleted; it cannot be opened again."


class OperatorNotDeletable(Conflict):
    code = "operator_kept"
    message = "This account is an operator's. Take away its rank before its data is deleted."


class IdentityUnverified(Forbidden):
    """Google has not verified the address, so anybody who claimed it would get its account."""

    code = "identity_unverified"
    message = "Google does not vouch for an e-mail address of yours. Sign up with a password."


class IdentityTaken(Forbidden):
    """Another identity is linked already: an address may get a new owner, and the account stays the
    old one's."""

    code = "identity_taken"
    message = (
        "The account of this address belongs to another Google account. Sign in with that one."
    )


class IdentityProviderOff(ServiceUnavailable):
    code = "identity_provider_off"
    message = "Sign-in with Google is not set up here. Sign in with a password."


class IdentityProviderUnavailable(ServiceUnavailable):
    code = "identity_provider_unavailable"
    message = "Google cannot be asked whether your sign-in is genuine. Try again in a moment."


class EmailTaken(Conflict):
    code = "email_taken"
    message = "There is an account with this e-mail address already."


class TooManyKeys(Conflict):
    code = "too_many_keys"
    message = "An account has at most 5 active API keys. Revoke one first."


class KeyRevoked(Conflict):
    code = "key_revoked"
    message = "This API key is revoked and cannot be changed."
