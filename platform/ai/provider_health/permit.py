"""One call of a provider, as far as its health is concerned: a caller's, or a probe."""

from collections.abc import Callable

from ai.provider_health.callers import Caller
from ai.provider_health.circuit import GRACE, Answered, Failed, Failing, Release
from ai.provider_health.name import Name
from ai.provider_health.outcomes import SERVED, outcome_of
from ai.provider_health.statistics import fields_of
from ai.provider_health.status_cache import FailureNote, StatusCache
from ai.providers.errors import AnswerTooLate, ProviderError

# Where a probe, or its failure, is shown to operators.
PROBE = "probe"


class Permit:
    """The permit of one call. It takes what its attempts bring, and is released at the end.

    A call counts once, however many attempts it has: as a suspicion with its first failed attempt,
    and as its caller's failure, or as a fault, with its last one. `caller` is None for a call that
    counts against nobody.
    """

    is_probe = False

    def __init__(
        self, status: StatusCache, hurry: Callable[[], None], name: Name, caller: Caller | None
    ) -> None:
        self._status = status
        self._hurry = hurry
        self._name = name
        self._caller = caller
        self._begun_at = status.now()
        self._is_suspected = False
        self._is_answered = False

    @property
    def may_be_repeated(self) -> bool:
        """Is another attempt allowed? Not while the circuit is open."""
        return not self._status.is_open(self._name)

    @property
    def wait(self) -> float:
        """Seconds until calls of the model may be let through again; 0 where they are."""
        return self._status.circuit(self._name).wait(self._status.now())

    def answered(self) -> None:
        """The provider has begun to answer."""
        self._is_answered = True
        self._status.answered(self._name)

    def served(self, *, first: float | None, total: float) -> None:
        """The provider has answered; the seconds to the first output and to the end."""
        self._status.served(self._name, self._caller, begun_at=self._begun_at)
        fields = fields_of(SERVED.code, is_failure=False, first=first, total=total)
        self._status.add_statistics(self._name, fields)

    def failed(
        self,
        error: ProviderError,
        request_id: str,
        *,
        was_patient: bool = True,
        again: bool = False,
    ) -> None:
        """An attempt has failed. `was_patient`: the provider had the time that it may take;
        `again`: there will be another attempt."""
        outcome = outcome_of(error, was_patient=was_patient)
        fields = fields_of(outcome.code, is_failure=outcome.is_failure)
        self._status.add_statistics(self._name, fields)
        if not outcome.is_failure:
            return
        note = FailureNote(self._status.now(), request_id, self._name.model, outcome.code)
        self._status.note_failure(self._name.provider, note)
        self.suspect()
        if not again:
            if outcome.is_fault:
                self._status.fault(self._name, outcome.code, begun_at=self._begun_at)
            elif self._caller is not None:
                self._status.failed(self._name, self._caller)
        self._hurry()

    def suspect(self) -> None:
        """An attempt has failed, or nothing has come for long: the call counts among those that
        cause a probe, once."""
        if not self._is_suspected:
            self._is_suspected = True
            self._status.suspect(self._name)

    def release(self) -> None:
        """The call has ended."""


class ProbePermit(Permit):
    """The platform's own call. Its verdict is that of the probe with this id; `seconds` is the time
    that it has."""

    is_probe = True
    verdict = "unmade"

    def __init__(
        self, status: StatusCache, hurry: Callable[[], None], name: Name, probe: str
    ) -> None:
        super().__init__(status, hurry, name, None)
        self._probe = probe
        circuit = status.circuit(name)
        self.seconds = circuit.probe_until - circuit.probed_at - GRACE

    @property
    def may_be_repeated(self) -> bool:
        return True

    def answered(self) -> None:
        """The provider has begun to answer."""
        self._is_answered = True

    def served(self, *, first: float | None, total: float) -> None:
        """The provider has answered."""
        self._end("answered", Answered(self._probe, first or total))

    def failed(
        self,
        error: ProviderError,
        request_id: str,
        *,
        was_patient: bool = True,
        again: bool = False,
    ) -> None:
        """An attempt has failed. A provider that refuses the request, asks for patience, or is
        still answering at the end of the time, is there."""
        if again:
            return
        outcome, is_late = outcome_of(error), isinstance(error, AnswerTooLate)
        if not outcome.is_failure or (is_late and self._is_answered):
            self._end("answered", Answered(self._probe, self._status.now() - self._begun_at))
            return
        note = FailureNote(
            self._status.now(), request_id, self._name.model, f"{PROBE}: {outcome.code}"
        )
        self._status.note_failure(self._name.provider, note)
        failing: Failing = "silent" if is_late else "broken"
        self._end("failed", Failed(self._probe, outcome.code, failing))

    def release(self) -> None:
        """The call has ended, or was not made."""
        if self._probe:
            self._end("unmade", Release(self._probe))

    def _end(self, verdict: str, event: Answered | Failed | Release) -> None:
        self._probe, self.verdict = "", verdict
        self._status.take(self._name, event)
        self._hurry()
