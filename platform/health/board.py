"""What this process knows of all circuits and switches: read at each call, without any I/O.

`health.exchange` shares it with the other processes. Safe for threads. The circuits are those of
the catalog's models, so there are few of them.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from threading import Lock
from typing import NamedTuple

from msgspec import Struct

from health.circuit import CLOSED, Circuit, Claim, Count, Event, Rules, Tally, after
from health.statistics import MINUTE

# Without news of the others for so long, Redis is away: every circuit counts as closed.
STALE_SECONDS = 3.0
# What is kept for the others while it cannot be told to them.
MAX_EVENTS = 100  # of one circuit
MAX_FAILURES = 20  # of one provider


class Name(NamedTuple):
    """A circuit: a provider and the id of a model in the catalog."""

    provider: str
    model: str


class FailureNote(Struct, frozen=True):
    """A failed call, for operators. `at` is a Unix time."""

    at: float
    request_id: str
    model: str
    code: str


class Switches(Struct, frozen=True):
    """What operators have switched off: whole providers, and models of providers."""

    providers: frozenset[str] = frozenset()
    models: frozenset[Name] = frozenset()

    def is_off(self, name: Name) -> bool:
        return name.provider in self.providers or name in self.models


class Pending(NamedTuple):
    """What the others do not know yet."""

    events: dict[Name, list[Event]]
    statistics: dict[tuple[Name, int], Counter[str]]
    failures: dict[str, list[FailureNote]]


class Board:
    """The circuits and switches of one process. Its clock is that of Redis, as far as it is known;
    a Unix time in seconds."""

    def __init__(self, rules: Callable[[], Rules]) -> None:
        self._rules = rules
        self._lock = Lock()
        self._circuits: dict[Name, Circuit] = {}
        self._switches = Switches()
        self._ahead = 0.0  # seconds of the shared clock before ours
        self._heard_at = -STALE_SECONDS
        self._events: dict[Name, list[Event]] = {}
        self._statistics: dict[tuple[Name, int], Counter[str]] = {}
        self._failures: dict[str, deque[FailureNote]] = {}
        self._probes: dict[str, tuple[Name, float]] = {}  # with their ends as the only ones

    def now(self) -> float:
        """The time of the clock that all processes share."""
        return time.time() + self._ahead

    @property
    def is_stale(self) -> bool:
        """Is Redis away?"""
        return time.monotonic() - self._heard_at >= STALE_SECONDS

    def circuit(self, name: Name) -> Circuit:
        """The circuit, which counts as closed while Redis is away."""
        circuit = self._circuits.get(name, CLOSED)
        return CLOSED if circuit.open_until and self.is_stale else circuit

    def circuits(self) -> dict[Name, Circuit]:
        """All circuits that were ever called."""
        return {name: self.circuit(name) for name in list(self._circuits)}

    @property
    def switches(self) -> Switches:
        """What operators have switched off."""
        return self._switches

    def is_off(self, name: Name) -> bool:
        """Has an operator switched it off?"""
        return self._switches.is_off(name)

    # --- What happens here ------------------------------------------------------------------------

    def take(self, name: Name, event: Event) -> Circuit:
        """Note an event of a call of this process. Returns the circuit after it."""
        with self._lock:
            circuit = self._circuits.get(name, CLOSED)
            circuit = after(circuit, event, self.now(), self._rules())
            self._circuits[name] = circuit
            self._remember(name, event)
        return circuit

    def count(self, name: Name, caller: int, *, failed: bool, ours: bool) -> Circuit:
        """Note that a call has ended."""
        slot = int(self.now() / self._rules().slot_seconds)
        if failed:
            tally = Tally(slot, failed=1, ours=int(ours), failed_callers=(caller,))
        else:
            tally = Tally(slot, served=1, served_callers=(caller,))
        return self.take(name, Count(tally))

    def add_statistics(self, name: Name, fields: Collection[str]) -> None:
        """Count a call in its minute."""
        key = (name, int(self.now() / MINUTE))
        with self._lock:
            self._statistics.setdefault(key, Counter()).update(fields)

    def note_failure(self, provider: str, note: FailureNote) -> None:
        """Keep a failure for operators."""
        with self._lock:
            notes = self._failures.setdefault(provider, deque(maxlen=MAX_FAILURES))
            notes.append(note)

    def _remember(self, name: Name, event: Event) -> None:
        events = self._events.setdefault(name, [])
        last = events[-1] if events else None
        is_same = isinstance(event, Count) and isinstance(last, Count)
        if is_same and last.tally.slot == event.tally.slot:  # type: ignore[union-attr]
            events[-1] = Count(last.tally + event.tally)  # type: ignore[union-attr]
        else:
            events.append(event)
            del events[:-MAX_EVENTS]

    # --- Probes -----------------------------------------------------------------------------------

    def begin_probe(self, name: Name, probe: str) -> bool:
        """Claim the probe of a half-open circuit for a call of this process; False where another
        call of this process has it. Whether another process has it is not known here."""
        with self._lock:
            now, circuit, rules = self.now(), self._circuits.get(name, CLOSED), self._rules()
            if circuit.state(now) != "half_open":
                return circuit.state(now) == "closed"
            has_one = any(each == name and now < ends for each, ends in self._probes.values())
            if has_one or circuit.wait(now):
                return False
            self._probes[probe] = (name, now + rules.longest_probe)
            self._circuits[name] = after(circuit, Claim(probe), now, rules)
        return True

    def end_probe(self, probe: str) -> None:
        """The call is the probe no more."""
        with self._lock:
            self._probes.pop(probe, None)

    def probes(self) -> dict[str, Name]:
        """The probes of this process."""
        with self._lock:
            return {probe: name for probe, (name, _) in self._probes.items()}

    # --- Sharing ----------------------------------------------------------------------------------

    def take_pending(self) -> Pending:
        """What the others have to be told. It counts as told unless it is put back."""
        with self._lock:
            pending = Pending(
                self._events,
                self._statistics,
                {provider: list(notes) for provider, notes in self._failures.items()},
            )
            self._events, self._statistics, self._failures = {}, {}, {}
        return pending

    def take_events(self, name: Name) -> list[Event]:
        """The same of one circuit, its events alone."""
        with self._lock:
            return self._events.pop(name, [])

    def put_back(self, name: Name, events: list[Event]) -> None:
        """Events that could not be told."""
        with self._lock:
            self._events[name] = [*events, *self._events.get(name, [])][-MAX_EVENTS:]

    def hear_clock(self, now: float) -> None:
        """It is `now` by the shared clock."""
        self._ahead = now - time.time()

    def hear(self, circuits: Mapping[Name, Circuit]) -> None:
        """What all processes know together. Events that are not told yet come on top."""
        with self._lock:
            now, rules = self.now(), self._rules()
            heard = dict(circuits)
            for name, events in self._events.items():
                circuit = heard.get(name, CLOSED)
                for event in events:
                    circuit = after(circuit, event, now, rules)
                heard[name] = circuit
            for name in self._circuits.keys() - heard.keys():
                heard[name] = CLOSED
            self._circuits = heard
            self._heard_at = time.monotonic()

    def hear_circuit(self, name: Name, circuit: Circuit) -> None:
        """The same of one circuit."""
        with self._lock:
            self._circuits[name] = circuit

    def hear_switches(self, switches: Switches) -> None:
        """What operators have switched off, as the database has it."""
        self._switches = switches
