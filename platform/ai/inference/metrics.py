"""What is counted of calls to models.

Money is what the settlement says (`Resolution`), in nano-USD. Charges that lapse without their
process are in the books, and not here.
"""

from collections.abc import Container, Iterable
from functools import lru_cache
from typing import NamedTuple, get_args

from ai.inference.types import Call
from ai.provider_health.metrics import MODELS, PROVIDERS
from ai.providers.errors import AccountFault
from billing.types import ChargeStatus, Ending, Resolution
from common.errors import DomainError
from common.money import NUSD_PER_USD
from observability.metrics.instruments import CALL_SECONDS, STEP_SECONDS, counter, gauge, histogram
from observability.metrics.labels import Declared

KINDS = Declared(Call, "kind")
_OF_MODEL: dict[str, Container[str]] = {"provider": PROVIDERS, "model": MODELS}

open_calls = gauge("platform_open_calls", "Calls that run in this process.").labels()
max_open_calls = gauge(
    "platform_max_open_calls", "Calls that may run in this process: MAX_OPEN_CALLS."
).labels()
calls = counter(
    "platform_calls_total",
    "Calls that have ended, by the status of their charge and the code of their error.",
    **_OF_MODEL,
    kind=KINDS,
    status=frozenset({*get_args(ChargeStatus), "refused", "replayed", "open"}),
    code=Declared(DomainError, "code"),
)
first_output_seconds = histogram(
    "platform_call_first_output_seconds",
    "From the opening of a streamed call to its first output.",
    CALL_SECONDS,
    **_OF_MODEL,
)
total_seconds = histogram(
    "platform_call_seconds",
    "From the opening of a call that reached its provider to its settlement.",
    CALL_SECONDS,
    **_OF_MODEL,
)
own_seconds = histogram(
    "platform_call_own_seconds",
    "Our own share of that time: all but the wait for the provider.",
    STEP_SECONDS,
    kind=KINDS,
)
hold_seconds = histogram(
    "platform_call_hold_seconds",
    "From the opening of a call to its hold.",
    STEP_SECONDS,
    kind=KINDS,
)
settle_seconds = histogram(
    "platform_call_settle_seconds",
    "From the end of the provider's answer to the settlement.",
    STEP_SECONDS,
    kind=KINDS,
)
tokens = counter(
    "platform_tokens_total",
    "Tokens of settled calls.",
    **_OF_MODEL,
    direction=frozenset({"in", "out"}),
)
cost = counter(
    "platform_cost_usd_total",
    "What calls cost, at cost.",
    **_OF_MODEL,
)
billed = counter(
    "platform_billed_usd_total",
    "What customers paid: the plan's part at cost, the balance's at twice the cost.",
    **_OF_MODEL,
    payer=frozenset({"plan", "balance"}),
)
borne = counter(
    "platform_borne_usd_total",
    "The cost of calls that the platform paid for itself.",
    **_OF_MODEL,
)
shortfall = counter(
    "platform_shortfall_usd_total",
    "What customers owed and could not pay.",
    **_OF_MODEL,
)
refused_callers = counter(
    "platform_callers_refused_total",
    "Calls that were refused because their callers' own calls keep failing.",
    **_OF_MODEL,
)
probes = counter(
    "platform_probes_total",
    "Probes of models that have ended, by what they have found.",
    **_OF_MODEL,
    outcome=frozenset({"answered", "failed", "unmade", "no_budget"}),
)
calls_in_flight = counter(
    "platform_circuit_calls_in_flight_total",
    "Calls of a model that ran in this process when its circuit opened.",
    **_OF_MODEL,
)
provider_faults = counter(
    "platform_provider_faults_total",
    "Answers of providers that say that our key is refused, our quota used up, a model gone.",
    provider=PROVIDERS,
    reason=frozenset(get_args(AccountFault)),
)
provider_retries = counter(
    "platform_provider_retries_total",
    "Attempts after which a provider was called again.",
    provider=PROVIDERS,
)


class Steps(NamedTuple):
    """The seconds of the steps of a call."""

    hold: float
    provider: float
    settle: float


class _OfModel:
    """The series of one model, kept because they are looked up at the end of each call."""

    def __init__(self, provider: str, model: str) -> None:
        names = (provider, model)
        self.first_output_seconds = first_output_seconds.labels(*names)
        self.total_seconds = total_seconds.labels(*names)
        self.tokens_in = tokens.labels(*names, "in")
        self.tokens_out = tokens.labels(*names, "out")
        self.cost = cost.labels(*names)
        self.by_plan = billed.labels(*names, "plan")
        self.by_balance = billed.labels(*names, "balance")
        self.borne = borne.labels(*names)
        self.shortfall = shortfall.labels(*names)


_of_model = lru_cache(maxsize=500)(_OfModel)


def count_end(
    call: Call,
    *,
    status: str,
    code: str | None,
    ending: Ending | None,
    resolution: Resolution | None,
    first_output_at: float | None,
    seconds: float,
    steps: Steps | None,
) -> None:
    """A call has ended, after so many seconds. `steps` is None where its provider was not
    called."""
    model = call.model
    calls.labels(model.provider, model.id, call.kind, status, code or "").inc()
    series = _of_model(model.provider, model.id)
    if steps is not None:
        series.total_seconds.observe(seconds)
        own_seconds.labels(call.kind).observe(seconds - steps.provider)
        hold_seconds.labels(call.kind).observe(steps.hold)
        settle_seconds.labels(call.kind).observe(steps.settle)
    if first_output_at is not None:
        series.first_output_seconds.observe(first_output_at)
    if resolution is not None and resolution.cost:
        for total, nusd in (
            (series.cost, resolution.cost),
            (series.by_plan, resolution.charge_plan),
            (series.by_balance, resolution.charge_balance),
            (series.borne, resolution.borne),
            (series.shortfall, resolution.shortfall),
        ):
            if nusd:
                total.inc(nusd / NUSD_PER_USD)
    if ending is not None and status == "settled":
        series.tokens_in.inc(ending.units.get("tokens_in", 0))
        series.tokens_out.inc(ending.units.get("tokens_out", 0))


def show_faults_of(providers: Iterable[str]) -> None:
    """Show the faults of these providers while there are none: Prometheus sees no rise in a series
    that begins with the first of them."""
    for provider in providers:
        for reason in get_args(AccountFault):
            provider_faults.labels(provider, reason)
