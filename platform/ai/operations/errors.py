"""Why operations fail. Nothing is billed for any of them."""

from ai.inference.errors import CallCancelled, CallInterrupted, UpstreamFailed


class OutOfTime(UpstreamFailed):
    message = "The provider has not finished in time. Nothing was billed; try again."


class SubmissionLost(UpstreamFailed):
    message = (
        "It is not known whether the provider has begun: it has failed, or its answer was lost. "
        "Nothing was billed; try again."
    )


class OperationGone(UpstreamFailed):
    message = "The provider does not know this work any more. Nothing was billed; try again."


class OperationFailed(UpstreamFailed):
    message = "The provider could not finish this. Nothing was billed; try again."


class OperationCancelled(CallCancelled):
    message = "This was cancelled. Nothing was billed."


class OperationInterrupted(CallInterrupted):
    message = "The server was interrupted. Nothing was billed; try again."
