"""The errors of outbound calls: those of a call alone, and what the answer of a host means."""


class OutboundError(Exception):
    """An outbound call that brought no usable answer. The text names the host, never headers or
    bodies."""


class AddressRefused(OutboundError):
    """The address is none that may be called."""


class NotSent(OutboundError):
    """The host could not be reached: it has seen nothing of the call."""


class NoAnswer(OutboundError):
    """No whole answer came in time: the host may have carried out what it was asked."""


class UnusableAnswer(OutboundError):
    """The answer is of another type than expected, cannot be read, or leads to another host."""


class RedirectRefused(UnusableAnswer):
    """The answer leads to another host, or to no address."""


class AnswerTooLarge(UnusableAnswer):
    """The answer is longer than it may be."""


class HostError(Exception):
    """The host does not do what it was asked. The text is a sentence for the user."""


class TokenRefused(HostError):
    """The token is wrong, revoked or has expired."""


class AccessRefused(HostError):
    """The token, or its owner, may not do this."""


class Missing(HostError):
    """There is no such thing, or the token does not reach it."""


class Rejected(HostError):
    """The host rejects what it was sent; the text contains the host's words."""


class RateLimited(HostError):
    """The host wants no calls for `retry_after` seconds."""

    def __init__(self, text: str, retry_after: int) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class HostFailed(HostError):
    """The host does not answer, or answers what is no answer. `may_be_done`: it may have carried
    out what it was asked."""

    def __init__(self, text: str, *, may_be_done: bool) -> None:
        super().__init__(text)
        self.may_be_done = may_be_done


class AddressNotCalled(HostError):
    """The host's address is none that is called from here."""
