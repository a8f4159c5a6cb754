"""Why whatever starts calls may be refused, for `common.openapi.error_responses`."""

from billing.errors import (
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
    PlanRequired,
)
from inference.errors import ProviderNotAvailable
from jobs.errors import TooManyRuns

# Of what only says what something would cost, the first.
ESTIMATES = (PlanRequired,)
STARTS = (
    *ESTIMATES,
    InsufficientBalance,
    InsufficientForRequest,
    IdempotencyMismatch,
    TooManyRuns,
    ProviderNotAvailable,
)
