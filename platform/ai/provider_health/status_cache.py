"""What this process knows of all circuits, switches and callers: read at each call, without any
I/O.

`ai.provider_health.exchange` shares it with the other processes. Safe for threads. The circuits are
those of the catalog's models, so there are few of them.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from threading import Lock
from typing import NamedTuple

from msgspec import Struct

from ai.provider_health.callers import Caller, CallerRules, Callers, Share
from ai.provider_health.circuit import CLOSED, Circuit, Count, Event, Rules, Tally, after, is_due
from ai.provider_health.name import Name
from ai.provider_health.statistics import MINUTE

# Without news of the others for so long, Redis is away: every circuit counts as closed.
STALE_SECONDS = 3.0
# What is kept for the others while it cannot be told to them.
MAX_EVENTS = 100  # of one circuit
MAX_FAILURES = 20  # of one provider


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


class StatusCache:
    """The circuits, switches and callers of one process. Its clock is that of Redis, as far as it
    is known; a Unix time in seconds.

    `switches` are what operators have switched off, as the database has it. `listeners` are called,
    in any thread, when a probe has become due or a circuit has opened.
    """

    def __init__(self, rules: Callable[[], Rules], caller_rules: Callable[[], CallerRules]) -> None:
        self.listeners: list[Callable[[], None]] = []
        self._rules = rules
        self._lock = Lock()
        self._circuits: dict[Name, Circuit] = {}
        self._callers = Callers(caller_rules)
        self.switches = Switches()
        self._ahead = 0.0  # seconds of the shared clock before ours
        self._heard_at = -STALE_SECONDS
        self._events: dict[Name, list[Event]] = {}
        self._statistics: dict[tuple[Name, int], Counter[str]] = {}
        self._failures: dict[str, deque[FailureNote]] = {}

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
        return CLOSED if circuit.open_since and self.is_stale else circuit

    def is_open(self, name: Name) -> bool:
        """Are calls of the model refused?"""
        circuit = self.circuit(name)
        return bool(circuit.open_since) and circuit.is_open(self.now())

    def circuits(self) -> dict[Name, Circuit]:
        """All circuits that were ever called."""
        return {name: self.circuit(name) for name in list(self._circuits)}

    def due(self) -> list[Name]:
        """The models that a probe is due of. None while Redis is away."""
        if self.is_stale:
            return []
        now, rules = self.now(), self._rules()
        return [name for name, each in list(self._circuits.items()) if is_due(each, now, rules)]

    def is_off(self, name: Name) -> bool:
        """Has an operator switched it off?"""
        return self.switches.is_off(name)

    def wait_of(self, caller: Caller, name: Name) -> float:
        """Seconds for which calls of this caller are refused, because its own calls fail."""
        return self._callers.wait(caller, name, self.now())

    # --- What happens here ------------------------------------------------------------------------

    def take(self, name: Name, event: Event) -> Circuit:
        """Note an event of this process. Returns the circuit after it."""
        now, rules = self.now(), self._rules()
        with self._lock:
            before = self._circuits.get(name, CLOSED)
            circuit = after(before, event, now, rules)
            self._circuits[name] = circuit
            self._remember(name, event)
        if is_due(circuit, now, rules) or (circuit.open_since and not before.open_since):
            self._notify()
        return circuit

    def answered(self, name: Name) -> None:
        """A call has begun to be answered."""
        self.take(name, Count(Tally(self._slot()), answered_at=self.now()))

    def served(self, name: Name, caller: Caller | None, *, begun_at: float) -> None:
        """A call that began at that time was served to its end."""
        if caller is not None:
            with self._lock:
                self._callers.served(caller, name)
        self.take(name, Count(Tally(self._slot()), self.now(), begun_at))

    def suspect(self, name: Name) -> None:
        """An attempt of a call has failed, for whatever reason."""
        self.take(name, Count(Tally(self._slot(), failed=1)))

    def failed(self, name: Name, caller: Caller) -> None:
        """A call has failed, and its content may have caused that."""
        with self._lock:
            self._callers.failed(caller, name, self.now())

    def fault(self, name: Name, cause: str, *, begun_at: float) -> Circuit:
        """A call has failed for a reason that no content can have. It says nothing where a call
        that began later was served."""
        circuit = self._circuits.get(name, CLOSED)
        if circuit.sound_from > begun_at:
            return circuit
        return self.take(name, Count(Tally(self._slot(), faults=1, cause=cause)))

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

    def _slot(self) -> int:
        return int(self.now() / self._rules().slot_seconds)

    def _notify(self) -> None:
        for listener in list(self.listeners):
            listener()

    def _remember(self, name: Name, event: Event) -> None:
        events = self._events.setdefault(name, [])
        last = events[-1] if events else None
        if (
            isinstance(event, Count)
            and isinstance(last, Count)
            and last.tally.slot == event.tally.slot
        ):
            events[-1] = Count(
                last.tally + event.tally,
                max(last.answered_at, event.answered_at),
                max(last.sound_from, event.sound_from),
            )
        else:
            events.append(event)
            del events[:-MAX_EVENTS]

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
        """The same of one circuit."""
        with self._lock:
            return self._events.pop(name, [])

    def put_back(self, name: Name, events: list[Event]) -> None:
        """What could not be told, for another attempt."""
        with self._lock:
            self._events[name] = [*events, *self._events.get(name, [])][-MAX_EVENTS:]

    def take_share(self) -> Share:
        """What the others have to be told of callers, once it is proven."""
        with self._lock:
            now, circuits = self.now(), self._circuits
            for name, circuit in circuits.items():
                if circuit.is_open(now):
                    self._callers.forgive(name)
            self._callers.prove(now, lambda name: circuits.get(name, CLOSED).sound_from)
            return self._callers.take_share()

    def put_back_share(self, share: Share) -> None:
        """What could not be told, for another attempt."""
        with self._lock:
            self._callers.put_back(share)

    def hear_clock(self, now: float) -> None:
        """It is `now` by the shared clock."""
        self._ahead = now - time.time()

    def hear_callers(self, refused: Mapping[str, float], *, are_rows: bool) -> None:
        """Which callers are refused, until when, and whether calls of any fail in a row."""
        with self._lock:
            self._callers.hear(refused, are_rows, self.now())

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
            has_news = any(
                circuit.open_since or is_due(circuit, now, rules) for circuit in heard.values()
            )
        if has_news:
            self._notify()

    def hear_circuit(self, name: Name, circuit: Circuit) -> None:
        """The same of one circuit."""
        with self._lock:
            self._circuits[name] = circuit
