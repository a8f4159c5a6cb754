"""One call of a provider, as far as its health is concerned."""

from collections.abc import Callable
from uuid import UUID

from health.board import Board, FailureNote, Name
from health.circuit import Answered, Broken, Release
from health.outcomes import SERVED, outcome_of
from health.statistics import fields_of
from providers.errors import ProviderError


class Entry:
    """A call that was let through. It reports what its attempts bring, and leaves in the end.

    `probe` names the call where it is the probe of a half-open circuit, and is empty otherwise.
    """

    def __init__(
        self, board: Board, hurry: Callable[[], None], name: Name, account_id: UUID, probe: str
    ) -> None:
        self._board = board
        self._hurry = hurry
        self._name = name
        # Of a UUIDv7 these bits are random.
        self._caller = account_id.int & 0xFFFFFFFF
        self._probe = probe

    @property
    def may_be_repeated(self) -> bool:
        """Is another attempt allowed? Not while the circuit is open."""
        return not self._board.circuit(self._name).open_until

    def answered(self) -> None:
        """The provider has begun to answer."""
        if self._probe:
            self._board.take(self._name, Answered(self._probe))
            self._end_probe()

    def served(self, *, first: float | None, total: float) -> None:
        """The provider has answered; the seconds to the first output and to the end."""
        self.answered()
        self._board.count(self._name, self._caller, failed=False, ours=False)
        fields = fields_of(SERVED.code, is_failure=False, first=first, total=total)
        self._board.add_statistics(self._name, fields)

    def failed(self, error: ProviderError, request_id: str, *, was_patient: bool = True) -> None:
        """An attempt has failed. `was_patient`: the provider had the time that it may take."""
        outcome = outcome_of(error, was_patient=was_patient)
        fields = fields_of(outcome.code, is_failure=outcome.is_failure)
        self._board.add_statistics(self._name, fields)
        if not outcome.is_failure:
            return
        note = FailureNote(self._board.now(), request_id, self._name.model, outcome.code)
        self._board.note_failure(self._name.provider, note)
        if self._probe:
            self._board.take(self._name, Broken(self._probe))
            self._end_probe()
            return
        was_open = self._board.circuit(self._name).open_until
        after = self._board.count(self._name, self._caller, failed=True, ours=outcome.is_ours)
        if after.open_until and not was_open:
            self._hurry()

    def leave(self) -> None:
        """The call has ended. A probe that has neither been answered nor failed makes room."""
        if self._probe:
            self._board.take(self._name, Release(self._probe))
            self._end_probe()

    def _end_probe(self) -> None:
        self._board.end_probe(self._probe)
        self._probe = ""
        self._hurry()
