"""The errors of connectors, and of calls to their providers."""

from common.errors import Conflict, DomainError, NotFound, TooManyRequests
from integrations.connectors.types import MAX_CONNECTORS
from integrations.safe_http import errors as hosts


class ConnectorNotConfigured(Conflict):
    code = "connector_not_configured"
    message = "Accounts of this provider cannot be connected here: the operator has not set it up."


class TooManyConnectors(Conflict):
    code = "too_many_connectors"
    message = f"You have {MAX_CONNECTORS} connectors. Disconnect one that you do not need."


class ConnectorNeedsReauth(Conflict):
    """The connector has the status `needs_reauth`."""

    code = "connector_needs_reauth"
    message = "The provider does not accept this connector any more. Connect the account again."


class ConnectorRefused(DomainError):
    """The provider understood, and does not do it."""

    code, status = "connector_refused", 409
    message = "The provider refuses this."


class ConnectorBusy(TooManyRequests):
    code = "connector_rate_limited"
    message = "The provider wants fewer calls. Wait for Retry-After seconds."


class ConnectorUnavailable(DomainError):
    code, status = "connector_unavailable", 502
    message = "The provider does not answer as it should. Try again in a moment."


def domain_error(error: hosts.HostError) -> DomainError:
    """What a provider's answer means for the request that needed it."""
    match error:
        case hosts.TokenRefused():
            return ConnectorNeedsReauth()
        case hosts.Missing():
            return NotFound("The provider has no such file, or the account does not reach it.")
        case hosts.RateLimited():
            return ConnectorBusy(str(error), retry_after=error.retry_after)
        case hosts.HostFailed() | hosts.AddressNotCalled():
            return ConnectorUnavailable()
        case _:
            return ConnectorRefused(str(error))
