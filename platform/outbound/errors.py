"""The errors of an outbound call. Their texts name the host, never headers or bodies."""


class OutboundError(Exception):
    """An outbound call that brought no usable answer."""


class AddressRefused(OutboundError):
    """The address is none that may be called."""


class NotSent(OutboundError):
    """The host could not be reached: it has seen nothing of the call."""


class NoAnswer(OutboundError):
    """No whole answer came in time: the host may have carried out what it was asked."""


class UnusableAnswer(OutboundError):
    """The answer is of another type than expected, cannot be read, or leads to another host."""


class AnswerTooLarge(UnusableAnswer):
    """The answer is longer than it may be."""
