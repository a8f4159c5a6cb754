"""The state machine of a circuit."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from health.circuit import (
    CLOSED,
    MAX_EARLIER,
    SLOTS,
    Answered,
    Broken,
    Circuit,
    Claim,
    Count,
    Event,
    Release,
    Renew,
    Rules,
    Tally,
    after,
)

RULES = Rules(window=60.0, min_calls=5, share=0.5, open_seconds=15.0)
ALICE, BOB, CHARLIE = 1, 2, 3


def call(now: float, caller: int, *, failed: bool = False, ours: bool = False) -> Count:
    slot = int(now / RULES.slot_seconds)
    if failed:
        return Count(Tally(slot, failed=1, ours=int(ours), failed_callers=(caller,)))
    return Count(Tally(slot, served=1, served_callers=(caller,)))


def calls(*callers: int, now: float, circuit: Circuit = CLOSED, failed: bool = True) -> Circuit:
    for caller in callers:
        circuit = after(circuit, call(now, caller, failed=failed), now, RULES)
    return circuit


def opened(now: float = 1000.0) -> Circuit:
    return calls(*(ALICE, BOB) * 3, now=now)


def test_a_circuit_opens_when_enough_calls_have_failed() -> None:
    circuit = calls(ALICE, BOB, ALICE, BOB, now=1000.0)
    assert circuit.state(1000.0) == "closed"
    circuit = calls(ALICE, now=1000.0, circuit=circuit)
    assert (circuit.state(1000.0), circuit.wait(1000.0)) == ("open", 15.0)


def test_it_stays_closed_while_most_calls_are_served() -> None:
    circuit = calls(*(BOB, CHARLIE) * 3, now=1000.0, failed=False)
    circuit = calls(*(ALICE, BOB) * 2, now=1000.0, circuit=circuit)
    assert circuit.state(1000.0) == "closed"
    assert calls(ALICE, BOB, now=1000.0, circuit=circuit).state(1000.0) == "open"


def test_failures_are_forgotten_with_their_window() -> None:
    circuit = calls(ALICE, BOB, ALICE, BOB, now=1000.0)
    later = 1000.0 + RULES.window
    assert calls(CHARLIE, now=later, circuit=circuit).state(later) == "closed"


def test_one_caller_closes_no_provider_for_others() -> None:
    circuit = calls(BOB, now=1000.0, failed=False)
    assert calls(*[ALICE] * 50, now=1000.0, circuit=circuit).state(1000.0) == "closed"
    # But where two callers are failed it is the provider.
    assert calls(*[ALICE, CHARLIE] * 5, now=1000.0, circuit=circuit).state(1000.0) == "open"


def test_the_only_caller_of_all_can_open_a_circuit() -> None:
    circuit = calls(ALICE, now=1000.0, failed=False)
    assert calls(*[ALICE] * 5, now=1000.0, circuit=circuit).state(1000.0) == "open"


def test_a_failure_of_ours_is_everybodys() -> None:
    circuit = calls(BOB, now=1000.0, failed=False)
    for _ in range(5):
        circuit = after(circuit, call(1000.0, ALICE, failed=True, ours=True), 1000.0, RULES)
    assert circuit.state(1000.0) == "open"


def test_a_call_that_began_before_the_circuit_opened_does_not_close_it() -> None:
    circuit = opened()
    assert calls(ALICE, BOB, now=1001.0, circuit=circuit, failed=False) == circuit


def test_one_probe_is_let_through_at_a_time() -> None:
    circuit = opened()
    assert after(circuit, Claim("early"), 1014.9, RULES) == circuit
    assert (circuit.state(1015.0), circuit.wait(1015.0)) == ("half_open", 0.0)
    circuit = after(circuit, Claim("first"), 1015.0, RULES)
    assert circuit.probe == "first"
    assert after(circuit, Claim("second"), 1016.0, RULES).probe == "first"
    assert circuit.wait(1016.0) == 4.0


def test_a_probe_that_is_renewed_stays_the_only_one() -> None:
    circuit = after(opened(), Claim("first"), 1015.0, RULES)
    circuit = after(circuit, Renew("first"), 1019.0, RULES)
    assert after(circuit, Claim("second"), 1023.0, RULES).probe == "first"


def test_the_probe_of_a_process_that_died_is_replaced() -> None:
    circuit = after(opened(), Claim("first"), 1015.0, RULES)
    circuit = after(circuit, Claim("second"), 1020.0, RULES)
    assert circuit.probe == "second"
    assert after(circuit, Renew("first"), 1021.0, RULES) == circuit


def test_a_probe_that_takes_long_makes_room_for_the_next() -> None:
    circuit = after(opened(), Claim("first"), 1015.0, RULES)
    for now in range(1016, 1045, 4):
        assert after(circuit, Claim("second"), now, RULES).probe == "first"
        circuit = after(circuit, Renew("first"), now, RULES)
    circuit = after(circuit, Claim("second"), 1045.0, RULES)
    assert circuit.probe == "second"
    # What the provider does with either of them counts.
    for name in ("first", "second"):
        assert after(circuit, Answered(name), 1046.0, RULES) == CLOSED
        assert after(circuit, Broken(name), 1046.0, RULES) == Circuit(open_until=1061.0)
    assert after(circuit, Answered("stranger"), 1046.0, RULES) == circuit
    circuit = after(circuit, Release("first"), 1046.0, RULES)
    assert (circuit.probe, circuit.earlier) == ("second", ())


def test_an_answer_to_the_probe_closes_the_circuit() -> None:
    circuit = after(opened(), Claim("first"), 1015.0, RULES)
    assert after(circuit, Answered("first"), 1016.0, RULES) == CLOSED


def test_a_probe_that_fails_opens_it_again() -> None:
    circuit = after(opened(), Claim("first"), 1015.0, RULES)
    circuit = after(circuit, Broken("first"), 1016.0, RULES)
    assert (circuit.state(1016.0), circuit.wait(1016.0), circuit.probe) == ("open", 15.0, "")


def test_a_probe_that_says_nothing_makes_room_for_the_next() -> None:
    circuit = after(opened(), Claim("first"), 1015.0, RULES)
    circuit = after(circuit, Release("first"), 1016.0, RULES)
    assert (circuit.state(1016.0), circuit.wait(1016.0)) == ("half_open", 0.0)


counts = st.builds(
    Tally,
    slot=st.integers(0, 20),
    served=st.integers(0, 5),
    failed=st.integers(0, 5),
    served_callers=st.lists(st.integers(1, 3), max_size=2).map(tuple),
    failed_callers=st.lists(st.integers(1, 3), max_size=2).map(tuple),
)


@given(counts, counts, counts)
def test_counting_is_the_same_in_any_grouping(a: Tally, b: Tally, c: Tally) -> None:
    assert (a + b) + c == a + (b + c)


class Life(RuleBasedStateMachine):
    """A circuit whose events come in any order, with any probes."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.circuit = CLOSED
        self.running: set[str] = set()
        self.names = 0

    def _take(self, event: Event) -> None:
        before = self.circuit
        self.circuit = after(before, event, self.now, RULES)
        state, following = before.state(self.now), self.circuit.state(self.now)
        assert (state, following) != ("open", "half_open"), "only time half-opens"
        if (state, following) == ("half_open", "closed"):
            assert isinstance(event, Answered)
            assert event.probe in (before.probe, *before.earlier)
        if (state, following) == ("closed", "open"):
            assert isinstance(event, Count)
            assert event.tally.failed
        assert (state, following) != ("open", "closed")

    @rule(seconds=st.integers(0, 40))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    @rule(caller=st.integers(1, 3), failed=st.booleans(), ours=st.booleans())
    def a_call_ends(self, caller: int, failed: bool, ours: bool) -> None:
        self._take(call(self.now, caller, failed=failed, ours=ours))

    @rule()
    def a_call_claims(self) -> None:
        self.names += 1
        name = str(self.names)
        may_be = self.circuit.state(self.now) == "half_open" and not self.circuit.wait(self.now)
        self._take(Claim(name))
        assert (self.circuit.probe == name) == may_be
        if may_be:
            self.running.add(name)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), kind=st.sampled_from([Renew, Release, Answered, Broken]))
    def a_probe_tells(self, data: st.DataObject, kind: type[Renew]) -> None:
        name = data.draw(st.sampled_from(sorted(self.running)))
        is_known = name in (self.circuit.probe, *self.circuit.earlier)
        before = self.circuit
        self._take(kind(name))
        assert is_known or self.circuit == before
        if kind is not Renew:
            self.running.discard(name)

    @invariant()
    def it_is_small_and_makes_sense(self) -> None:
        circuit = self.circuit
        assert len(circuit.tallies) <= SLOTS
        assert all(len(each.failed_callers) <= 2 for each in circuit.tallies)
        assert len(circuit.earlier) <= MAX_EARLIER
        assert 0 <= circuit.wait(self.now) <= RULES.open_seconds
        if circuit.state(self.now) == "closed":
            assert circuit.wait(self.now) == 0
            assert not circuit.probe
            assert not circuit.earlier
        else:
            assert not circuit.tallies


TestLife = Life.TestCase
