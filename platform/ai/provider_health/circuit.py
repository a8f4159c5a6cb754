"""The state machine of a circuit: pure functions, without a clock, a store or a lock.

              a fault that no request can cause, or a probe that fails
    CLOSED ─────────────────────────────────────────────────────────────> OPEN
       ^                                                                   │
       └── a probe that is answered, or none for `open_seconds` when due ──┘

Failures that the content of a request may have caused never open a circuit. When they pile up, a
probe is due: a tiny call of the platform's own, one at a time, made by whichever process claims it.
A probe that fails opens the circuit, unless a call that was answered meanwhile contradicts it.

An open circuit is probed again and again, with pauses that double. Where nobody probes, because the
model cannot be probed or the budget is spent, the circuit closes by itself.

Times are seconds of one clock that all processes share.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

SLOTS = 6  # in a window: what is older than the window is forgotten a slot at a time
# Seconds that a probe may take for its hold and its settlement, beside its own.
GRACE = 3.0
LONGEST_PAUSE = 60.0  # between two probes of an open circuit
LONGEST_PROBE = 30.0
# A probe may take so many times what the last one took that was answered.
PATIENCE = 3.0

State = Literal["closed", "open"]
# How a probe has failed: nothing came in time, or something that was no answer.
Failing = Literal["silent", "broken"]


class Rules(Struct, frozen=True):
    """`failures` calls that have failed within `window` seconds make a probe due, `faults` that no
    request can cause open the circuit. Between two probes are `pause` seconds at least; a probe
    ends within `probe_seconds`. An open circuit that nobody probes closes after `open_seconds`."""

    window: float
    failures: int
    faults: int
    pause: float
    probe_seconds: float
    open_seconds: float

    @property
    def slot_seconds(self) -> float:
        return self.window / SLOTS


class Tally(Struct, frozen=True, array_like=True):
    """Failures of one slot. `faults` are those that no request can cause, `cause` the last one."""

    slot: int
    failed: int = 0
    faults: int = 0
    cause: str = ""

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.slot,
            self.failed + other.failed,
            self.faults + other.faults,
            other.cause or self.cause,
        )


class Circuit(Struct, frozen=True, array_like=True):
    """A circuit. `answered_at` is when a call was answered last; `sound_from` when the newest of
    those calls began that were served to their end.

    It is open from `open_since` on, because of `cause`; the next probe is due at `next_probe_at`,
    and at `closes_at` it closes by itself. `failed_probes` have failed since it opened.

    `probe` names the probe that runs; `probed_at` is when the last one began, `probe_until` when it
    is over, whatever has become of its process. `usual` is how long the last one took that was
    answered.
    """

    tallies: tuple[Tally, ...] = ()
    answered_at: float = 0.0
    sound_from: float = 0.0
    open_since: float = 0.0
    cause: str = ""
    next_probe_at: float = 0.0
    closes_at: float = 0.0
    failed_probes: int = 0
    probe: str = ""
    probed_at: float = 0.0
    probe_until: float = 0.0
    usual: float = 0.0

    def state(self, now: float) -> State:
        return "open" if self.is_open(now) else "closed"

    def is_open(self, now: float) -> bool:
        """Are calls refused?"""
        return self.open_since > 0 and (now < self.closes_at or self.is_probed(now))

    def is_probed(self, now: float) -> bool:
        """Does a probe run?"""
        return bool(self.probe) and now < self.probe_until

    def wait(self, now: float) -> float:
        """Seconds until a call may be let through, if all goes well; 0 where that is now."""
        if not self.is_open(now):
            return 0.0
        return max(0.0, (self.probe_until if self.is_probed(now) else self.next_probe_at) - now)

    def seconds_of_probe(self, rules: Rules) -> float:
        """How long the next probe may take. The probes of an open circuit are given ever more time,
        so that a model that is slow, and not silent, closes it."""
        doubled: float = rules.probe_seconds * 2 ** min(self.failed_probes, 10)
        patience = max(doubled, PATIENCE * self.usual)
        return min(patience, max(LONGEST_PROBE, rules.probe_seconds))

    def failed(self, now: float, rules: Rules) -> Tally:
        """The failures of the window."""
        return _sum(_recent(self.tallies, now, rules))


CLOSED = Circuit()


class Count(Struct, frozen=True):
    """What calls have brought: failures, and the times of the answers."""

    tally: Tally
    answered_at: float = 0.0
    sound_from: float = 0.0


class Claim(Struct, frozen=True):
    """A process wants to make the probe."""

    probe: str


class Release(Struct, frozen=True):
    """The probe could not be made, and says nothing."""

    probe: str


class Answered(Struct, frozen=True):
    """The probe was answered, after so many seconds."""

    probe: str
    seconds: float = 0.0


class Failed(Struct, frozen=True):
    """The probe has failed, because of `cause`: `silent` where nothing came in time."""

    probe: str
    cause: str
    failing: Failing = "broken"


Event = Count | Claim | Release | Answered | Failed


def is_due(circuit: Circuit, now: float, rules: Rules) -> bool:
    """May a probe begin?"""
    if circuit.is_probed(now) or now < circuit.probed_at + rules.pause:
        return False
    if circuit.is_open(now):
        return now >= circuit.next_probe_at
    return circuit.failed(now, rules).failed >= rules.failures


def after(circuit: Circuit, event: Event, now: float, rules: Rules) -> Circuit:
    """The circuit after an event. The end of a probe that is not the current one, because it took
    too long, changes nothing."""
    if circuit.open_since and not circuit.is_open(now):
        circuit = _closed(circuit)
    match event:
        case Count():
            return _count(circuit, event, now, rules)
        case Claim(probe):
            if not is_due(circuit, now, rules):
                return circuit
            until = now + circuit.seconds_of_probe(rules) + GRACE
            return replace(circuit, probe=probe, probed_at=now, probe_until=until)
        case _ if event.probe != circuit.probe:
            return circuit
        case Release():
            return replace(circuit, probe="", probe_until=0.0)
        case Answered(_, seconds):
            circuit = replace(circuit, answered_at=now, sound_from=circuit.probed_at)
            return replace(_closed(circuit), tallies=(), usual=seconds)
        case Failed():
            return _after_failure(circuit, event, now, rules)


def _after_failure(circuit: Circuit, event: Failed, now: float, rules: Rules) -> Circuit:
    """A silent probe is contradicted by a call that was answered meanwhile, whenever it began: the
    model is slow. A broken one by a call that began after it, and was served to its end."""
    ended = replace(circuit, probe="", probe_until=0.0)
    told_at = circuit.answered_at if event.failing == "silent" else circuit.sound_from
    if not circuit.open_since and told_at > circuit.probed_at:
        return ended
    return _open(ended, event.cause, now, rules, failed_probes=circuit.failed_probes + 1)


def _open(circuit: Circuit, cause: str, now: float, rules: Rules, *, failed_probes: int) -> Circuit:
    """Open it, or leave it open. One that no probe has opened is probed at once."""
    pause = min(rules.pause * 2 ** min(max(failed_probes - 1, 0), 10), LONGEST_PAUSE)
    next_probe_at = now + (pause if failed_probes else 0.0)
    return replace(
        circuit,
        tallies=(),
        open_since=circuit.open_since or now,
        cause=cause,
        next_probe_at=next_probe_at,
        closes_at=next_probe_at + rules.open_seconds,
        failed_probes=failed_probes,
    )


def _closed(circuit: Circuit) -> Circuit:
    return Circuit(
        tallies=circuit.tallies,
        answered_at=circuit.answered_at,
        sound_from=circuit.sound_from,
        probed_at=circuit.probed_at,
        usual=circuit.usual,
    )


def _count(circuit: Circuit, event: Count, now: float, rules: Rules) -> Circuit:
    circuit = replace(
        circuit,
        answered_at=max(circuit.answered_at, event.answered_at),
        sound_from=max(circuit.sound_from, event.sound_from),
    )
    if circuit.open_since:
        return circuit
    tallies = {each.slot: each for each in _recent(circuit.tallies, now, rules)}
    for tally in _recent((event.tally,), now, rules):
        if tally.failed or tally.faults:
            tallies[tally.slot] = tallies.get(tally.slot, Tally(tally.slot)) + tally
    window = _sum(tallies.values())
    if event.tally.faults and window.faults >= rules.faults:
        cause = event.tally.cause or window.cause
        return _open(circuit, cause, now, rules, failed_probes=0)
    return replace(circuit, tallies=tuple(tallies.values()))


def _recent(tallies: Iterable[Tally], now: float, rules: Rules) -> list[Tally]:
    newest = int(now / rules.slot_seconds)
    return [each for each in tallies if newest - SLOTS < each.slot <= newest]


def _sum(tallies: Iterable[Tally]) -> Tally:
    return sum(tallies, Tally(0))
