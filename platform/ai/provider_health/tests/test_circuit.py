"""The state machine of a circuit."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ai.provider_health.circuit import (
    CLOSED,
    GRACE,
    LONGEST_PAUSE,
    LONGEST_PROBE,
    SLOTS,
    Answered,
    Circuit,
    Claim,
    Count,
    Event,
    Failed,
    Failing,
    Release,
    Rules,
    Tally,
    after,
    is_due,
)

RULES = Rules(window=60.0, failures=3, faults=1, pause=5.0, probe_seconds=5.0, open_seconds=15.0)


def failures(number: int, *, at: float, circuit: Circuit = CLOSED) -> Circuit:
    """The circuit after so many failed calls whose content may have caused that."""
    tally = Tally(int(at / RULES.slot_seconds), failed=1)
    for _ in range(number):
        circuit = after(circuit, Count(tally), at, RULES)
    return circuit


def fault(*, at: float, cause: str = "connect", circuit: Circuit = CLOSED) -> Circuit:
    tally = Tally(int(at / RULES.slot_seconds), faults=1, cause=cause)
    return after(circuit, Count(tally), at, RULES)


def served(*, at: float, begun_at: float, circuit: Circuit = CLOSED) -> Circuit:
    return after(circuit, Count(Tally(int(at / RULES.slot_seconds)), at, begun_at), at, RULES)


def probed(*, at: float, circuit: Circuit | None = None) -> Circuit:
    """A circuit with a running probe."""
    return after(circuit or failures(3, at=at), Claim("first"), at, RULES)


def opened(at: float = 1000.0) -> Circuit:
    return after(probed(at=at), Failed("first", "503"), at, RULES)


def test_failures_never_open_a_circuit_but_make_a_probe_due() -> None:
    assert not is_due(failures(2, at=1000.0), 1000.0, RULES)
    assert is_due(failures(3, at=1000.0), 1000.0, RULES)
    assert failures(10_000, at=1000.0).state(1000.0) == "closed"


def test_a_fault_opens_it_at_once_and_it_is_probed_at_once() -> None:
    circuit = fault(at=1000.0)
    assert (circuit.state(1000.0), circuit.cause) == ("open", "connect")
    assert is_due(circuit, 1000.0, RULES)


def test_failures_are_forgotten_with_their_window() -> None:
    later = 1000.0 + RULES.window
    assert not is_due(failures(1, at=later, circuit=failures(2, at=1000.0)), later, RULES)


def test_one_probe_runs_at_a_time_and_with_a_pause_between_two() -> None:
    circuit = probed(at=1000.0)
    assert after(circuit, Claim("second"), 1000.0, RULES) == circuit
    circuit = after(circuit, Answered("first", 0.1), 1000.1, RULES)
    circuit = failures(3, at=1000.2, circuit=circuit)
    assert not is_due(circuit, 1004.9, RULES)
    assert is_due(circuit, 1005.0, RULES)


def test_the_probe_of_a_process_that_died_is_replaced() -> None:
    circuit = probed(at=1000.0)
    over = 1000.0 + RULES.probe_seconds + GRACE
    assert not is_due(circuit, over - 0.1, RULES)
    circuit = after(circuit, Claim("second"), over, RULES)
    assert circuit.probe == "second"
    assert after(circuit, Failed("first", "503"), over, RULES) == circuit


def test_a_probe_that_is_answered_clears_the_failures() -> None:
    circuit = after(probed(at=1000.0), Answered("first", 0.1), 1000.1, RULES)
    assert (circuit.state(1000.1), circuit.tallies) == ("closed", ())


def test_a_probe_that_fails_opens_it() -> None:
    circuit = opened()
    assert (circuit.state(1000.0), circuit.cause) == ("open", "503")
    assert circuit.wait(1000.0) == RULES.pause


def test_a_silent_probe_is_contradicted_by_any_answer_that_came_meanwhile() -> None:
    failed = Failed("first", "timeout", "silent")
    slow = served(at=1004.0, begun_at=990.0, circuit=probed(at=1000.0))
    assert after(slow, failed, 1005.0, RULES).state(1005.0) == "closed"
    before = served(at=999.9, begun_at=999.0, circuit=failures(3, at=999.0))
    assert after(probed(at=1000.0, circuit=before), failed, 1005.0, RULES).state(1005.0) == "open"


def test_a_broken_probe_is_contradicted_only_by_a_call_that_began_later() -> None:
    """A provider that turns new calls away may bring those that run to their end."""
    failed = Failed("first", "503")
    running = served(at=1000.5, begun_at=999.0, circuit=probed(at=1000.0))
    assert after(running, failed, 1001.0, RULES).state(1001.0) == "open"
    later = served(at=1000.5, begun_at=1000.2, circuit=probed(at=1000.0))
    circuit = after(later, failed, 1001.0, RULES)
    assert circuit.state(1001.0) == "closed"
    assert is_due(circuit, 1005.0, RULES), "it is probed again"


def test_only_a_probe_closes_an_open_circuit() -> None:
    circuit = served(at=1001.0, begun_at=1000.5, circuit=opened())
    assert circuit.state(1001.0) == "open"
    circuit = after(circuit, Claim("second"), 1005.0, RULES)
    assert circuit.probe == "second"
    assert after(circuit, Answered("second", 0.1), 1005.1, RULES).state(1005.1) == "closed"


def test_the_pauses_between_probes_double_up_to_a_minute() -> None:
    circuit, now, pauses = opened(), 1000.0, []
    for number in range(6):
        pauses.append(circuit.wait(now))
        now = circuit.next_probe_at
        circuit = after(circuit, Claim(str(number)), now, RULES)
        circuit = after(circuit, Failed(str(number), "503"), now, RULES)
        assert circuit.state(now) == "open"
    assert pauses == [5.0, 10.0, 20.0, 40.0, LONGEST_PAUSE, LONGEST_PAUSE]


def test_the_probes_of_an_open_circuit_are_given_more_and_more_time() -> None:
    assert probed(at=1000.0).seconds_of_probe(RULES) == 5.0
    circuit = opened()
    assert circuit.seconds_of_probe(RULES) == 10.0
    for _ in range(5):
        now = circuit.next_probe_at
        circuit = after(circuit, Claim("next"), now, RULES)
        circuit = after(circuit, Failed("next", "timeout", "silent"), now, RULES)
    assert circuit.seconds_of_probe(RULES) == LONGEST_PROBE


def test_a_model_that_is_known_to_be_slow_has_more_time() -> None:
    circuit = after(probed(at=1000.0), Answered("first", 4.0), 1004.0, RULES)
    assert circuit.seconds_of_probe(RULES) == 12.0
    assert probed(at=1010.0, circuit=failures(3, at=1010.0, circuit=circuit)).probe_until == (
        1010.0 + 12.0 + GRACE
    )


def test_a_circuit_that_nobody_probes_closes_by_itself() -> None:
    circuit = fault(at=1000.0)
    assert circuit.state(1014.9) == "open"
    assert circuit.state(1015.0) == "closed"
    # A probe that could not be made postpones nothing.
    circuit = after(after(circuit, Claim("first"), 1010.0, RULES), Release("first"), 1010.0, RULES)
    assert circuit.state(1015.0) == "closed"
    # It begins anew.
    circuit = failures(3, at=1015.0, circuit=circuit)
    assert (circuit.open_since, circuit.failed_probes) == (0.0, 0)
    assert is_due(circuit, 1015.0, RULES)


def test_the_end_of_a_circuit_waits_for_a_probe_that_runs() -> None:
    circuit = after(fault(at=1000.0), Claim("first"), 1014.9, RULES)
    assert circuit.state(1015.0) == "open"
    assert after(circuit, Failed("first", "connect"), 1016.0, RULES).state(1016.0) == "open"


tallies = st.builds(
    Tally,
    slot=st.just(7),
    failed=st.integers(0, 5),
    faults=st.integers(0, 5),
    cause=st.sampled_from(["", "key", "connect"]),
)


@given(tallies, tallies, tallies)
def test_counting_is_the_same_in_any_grouping(a: Tally, b: Tally, c: Tally) -> None:
    assert (a + b) + c == a + (b + c)


class Life(RuleBasedStateMachine):
    """A circuit whose events come in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.circuit = CLOSED
        self.claimed_at: list[float] = []
        self.running: set[str] = set()

    def _take(self, event: Event) -> None:
        before = self.circuit
        self.circuit = after(before, event, self.now, RULES)
        turn = before.state(self.now), self.circuit.state(self.now)
        if turn == ("closed", "open"):
            is_fault = isinstance(event, Count) and event.tally.faults
            assert is_fault or isinstance(event, Failed), "only a fault or a failed probe opens it"
            assert is_fault or event.probe == before.probe  # type: ignore[union-attr]
        if turn == ("open", "closed"):
            assert isinstance(event, Answered | Release | Failed)
            assert event.probe == before.probe
            # Without an answer only one whose time was over while the probe ran.
            assert isinstance(event, Answered) or self.now >= before.closes_at

    @rule(seconds=st.integers(0, 40))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    @rule(number=st.integers(1, 20))
    def calls_fail(self, number: int) -> None:
        before = self.circuit.state(self.now)
        self._take(Count(Tally(int(self.now / RULES.slot_seconds), failed=number)))
        assert self.circuit.state(self.now) == before, (
            "whatever a request can cause changes nothing"
        )

    @rule(cause=st.sampled_from(["connect", "key"]))
    def a_fault_occurs(self, cause: str) -> None:
        self._take(Count(Tally(int(self.now / RULES.slot_seconds), faults=1, cause=cause)))
        assert self.circuit.state(self.now) == "open"

    @rule(ago=st.integers(0, 30))
    def a_call_is_served(self, ago: int) -> None:
        self._take(Count(Tally(int(self.now / RULES.slot_seconds)), self.now, self.now - ago))

    @rule()
    def a_process_claims_the_probe(self) -> None:
        name = str(len(self.claimed_at) + 1)
        may_be = is_due(self.circuit, self.now, RULES)
        self._take(Claim(name))
        assert (self.circuit.probe == name) == may_be
        if may_be:
            assert all(self.now - each >= RULES.pause for each in self.claimed_at)
            self.claimed_at.append(self.now)
            self.running.add(name)

    @precondition(lambda self: self.running)
    @rule(
        data=st.data(),
        kind=st.sampled_from(["answered", "released", "silent", "broken"]),
    )
    def a_probe_ends(self, data: st.DataObject, kind: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.running)))
        self.running.discard(name)
        is_current, before = name == self.circuit.probe, self.circuit
        failing: Failing = "silent" if kind == "silent" else "broken"
        event: Event = Failed(name, "503", failing)
        if kind == "answered":
            event = Answered(name, 1.0)
        elif kind == "released":
            event = Release(name)
        self._take(event)
        if not is_current:
            expected = after(before, Count(Tally(0)), self.now, RULES)
            assert after(self.circuit, Count(Tally(0)), self.now, RULES) == expected
        elif kind == "answered":
            assert self.circuit.state(self.now) == "closed"

    @invariant()
    def it_is_small_and_makes_sense(self) -> None:
        circuit = self.circuit
        assert len(circuit.tallies) <= SLOTS
        longest = max(LONGEST_PAUSE, LONGEST_PROBE + GRACE)
        assert 0 <= circuit.wait(self.now) <= longest
        if circuit.state(self.now) == "closed":
            assert circuit.wait(self.now) == 0
        else:
            assert circuit.cause
            assert circuit.closes_at <= max(self.now, circuit.probe_until) + LONGEST_PAUSE + 15


TestLife = Life.TestCase
