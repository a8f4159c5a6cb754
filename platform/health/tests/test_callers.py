"""Callers whose own calls fail."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from health.callers import LONGEST_PAUSE, MAX_STREAKS, Caller, CallerRules, Callers
from health.name import Name

RULES = CallerRules(in_a_row=3, pause=5.0, window=600.0, quota=10, free_quota=2)
NAME, OTHER = Name("openai", "m"), Name("openai", "n")
ALICE, BOB = Caller(UUID(int=1)), Caller(UUID(int=2))
NETWORK = "192.0.2.0/24"
FREE = [Caller(UUID(int=number), NETWORK) for number in (3, 4)]
LONG_AGO = 1.0


def callers() -> Callers:
    return Callers(lambda: RULES)


def fail(known: Callers, caller: Caller, times: int, *, sound_from: float) -> None:
    for number in range(times):
        known.failed(caller, NAME, 1000.0 + number, sound_from)


def test_a_caller_whose_calls_fail_in_a_row_is_refused_alone_and_briefly() -> None:
    known = callers()
    fail(known, ALICE, 2, sound_from=1000.5)
    assert known.wait(ALICE, NAME, 1002.0) == 0.0
    known.failed(ALICE, NAME, 1002.0, 1000.5)
    assert known.wait(ALICE, NAME, 1002.0) == 5.0
    assert known.wait(ALICE, OTHER, 1002.0) == 0.0
    assert known.wait(BOB, NAME, 1002.0) == 0.0
    assert known.wait(ALICE, NAME, 1007.0) == 0.0
    # Each further failure costs more.
    known.failed(ALICE, NAME, 1010.0, 1000.5)
    assert known.wait(ALICE, NAME, 1010.0) == 10.0
    fail(known, ALICE, 50, sound_from=1000.5)
    assert known.wait(ALICE, NAME, 1049.0) == LONGEST_PAUSE


def test_nobody_is_refused_while_the_provider_answers_nobody() -> None:
    known = callers()
    fail(known, ALICE, 100, sound_from=LONG_AGO)
    assert known.wait(ALICE, NAME, 1100.0) == 0.0
    known.prove(1100.0, lambda _: LONG_AGO)
    assert not known.take_share().failures


def test_a_call_that_is_served_ends_the_row() -> None:
    known = callers()
    fail(known, ALICE, 2, sound_from=1000.5)
    known.served(ALICE, NAME)
    fail(known, ALICE, 2, sound_from=1000.5)
    assert known.wait(ALICE, NAME, 1002.0) == 0.0


def test_what_an_outage_explains_is_forgiven() -> None:
    known = callers()
    fail(known, ALICE, 2, sound_from=LONG_AGO)
    known.forgive(NAME)
    known.prove(1010.0, lambda _: 1009.0)
    assert not known.take_share().failures
    fail(known, ALICE, 2, sound_from=1009.0)
    assert known.wait(ALICE, NAME, 1010.0) == 0.0


def test_failures_count_once_when_they_are_proven() -> None:
    known = callers()
    for each in (ALICE, *FREE):
        known.failed(each, NAME, 1000.0, LONG_AGO)
    known.prove(1001.0, lambda _: 1000.0)
    assert not known.take_share().failures, "what began at the same moment proves nothing"
    known.prove(1001.0, lambda _: 1000.5)
    share = known.take_share()
    assert share.failures == {(ALICE.payer, False): 1, (f"network:{NETWORK}", True): 2}
    known.prove(1002.0, lambda _: 1001.5)
    assert not known.take_share().failures


def test_what_is_never_proven_is_forgotten() -> None:
    known = callers()
    known.failed(ALICE, NAME, 1000.0, LONG_AGO)
    known.prove(1601.0, lambda _: LONG_AGO)
    known.prove(1602.0, lambda _: 1601.5)
    assert not known.take_share().failures


def test_a_free_account_without_a_network_has_a_quota_of_its_own() -> None:
    assert Caller(UUID(int=5), "").payer == Caller(UUID(int=5)).payer
    assert FREE[0].payer == FREE[1].payer


def test_a_refusal_of_a_network_is_one_of_all_its_free_accounts_and_of_no_other() -> None:
    known = callers()
    known.hear({f"network:{NETWORK}": 1060.0}, 1000.0)
    assert [known.wait(each, NAME, 1000.0) for each in (*FREE, ALICE)] == [60.0, 60.0, 0.0]


def test_a_process_remembers_a_bounded_number_of_callers() -> None:
    known = callers()
    for number in range(MAX_STREAKS + 10):
        known.failed(Caller(UUID(int=number)), NAME, 1000.0, LONG_AGO)
    assert len(known._streaks) == MAX_STREAKS


@given(
    st.lists(
        st.tuples(st.sampled_from(["fail", "serve", "prove"]), st.sampled_from([ALICE, BOB])),
        max_size=60,
    )
)
def test_a_caller_is_refused_only_after_a_row_that_the_provider_was_sound_in(
    acts: list[tuple[str, Caller]],
) -> None:
    known, now, sound_from = callers(), 1000.0, LONG_AGO
    rows: dict[Caller, list[float]] = {ALICE: [], BOB: []}
    for act, caller in acts:
        now += 1.0
        if act == "serve":
            known.served(caller, NAME)
            rows[caller].clear()
            sound_from = now
        elif act == "prove":
            sound_from = now
        else:
            rows[caller].append(now)
            was_refused = known.wait(caller, NAME, now) > 0
            known.failed(caller, NAME, now, sound_from)
            row = rows[caller]
            is_own = len(row) >= RULES.in_a_row and sound_from > row[0]
            assert (known.wait(caller, NAME, now) > 0) == (is_own or was_refused)
