"""Callers whose own calls fail."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from ai.provider_health.callers import MAX_ROWS, ROW_SECONDS, Caller, CallerRules, Callers, Share
from ai.provider_health.name import Name

RULES = CallerRules(in_a_row=3, pause=5.0, window=600.0, quota=10, free_quota=2)
NAME, OTHER = Name("openai", "m"), Name("openai", "n")
ALICE, BOB = Caller(UUID(int=1)), Caller(UUID(int=2))
NETWORK = "192.0.2.0/24"
FREE = [Caller(UUID(int=number), NETWORK) for number in (3, 4)]
LONG_AGO = 1.0


def callers() -> Callers:
    return Callers(lambda: RULES)


def fail(known: Callers, caller: Caller, *times: float) -> None:
    for now in times:
        known.failed(caller, NAME, now)


def proven(known: Callers, now: float, sound_from: float) -> Share:
    """What counts where the newest call that was served began at that time."""
    known.prove(now, lambda _: sound_from)
    return known.take_share()


def test_failures_count_where_the_provider_has_served_somebody_since_the_first_of_the_row() -> None:
    known = callers()
    fail(known, ALICE, 1000.0, 1001.0, 1002.0)
    share = proven(known, 1003.0, sound_from=1000.5)
    assert share.rows == {ALICE.at(NAME): 3}
    assert share.failures == {(ALICE.payer, False): 3}
    assert proven(known, 1004.0, sound_from=1003.0).is_empty, "once"
    fail(known, ALICE, 1005.0)
    assert proven(known, 1006.0, sound_from=1003.0).rows == {ALICE.at(NAME): 1}


def test_nothing_counts_while_the_provider_serves_nobody() -> None:
    known = callers()
    fail(known, ALICE, *(1000.0 + number for number in range(100)))
    assert proven(known, 1100.0, sound_from=LONG_AGO).is_empty
    assert proven(known, 1100.0, sound_from=1000.0).is_empty, "begun at the same moment"


def test_a_call_that_is_served_ends_the_row_and_not_the_quota() -> None:
    known = callers()
    fail(known, ALICE, 1000.0, 1001.0)
    known.served(ALICE, NAME)
    share = proven(known, 1003.0, sound_from=1002.0)
    assert (share.rows, share.served) == ({}, {ALICE.at(NAME)})
    assert share.failures == {(ALICE.payer, False): 2}
    fail(known, ALICE, 1004.0)
    assert proven(known, 1005.0, sound_from=1002.0).is_empty, "a row of its own"


def test_a_row_that_could_not_be_told_is_over_once_its_caller_is_served() -> None:
    known = callers()
    fail(known, ALICE, 1000.0, 1001.0)
    fail(known, BOB, 1000.0)
    share = proven(known, 1003.0, sound_from=1002.0)
    known.served(ALICE, NAME)
    known.put_back(share)
    assert known.take_share().rows == {BOB.at(NAME): 1}


def test_a_served_call_ends_rows_of_other_processes() -> None:
    known = callers()
    known.served(ALICE, NAME)
    assert known.take_share().is_empty, "while there are none, nothing is told"
    known.hear({}, are_rows=True, now=1000.0)
    known.served(ALICE, NAME)
    assert known.take_share().served == {ALICE.at(NAME)}


def test_a_row_is_over_after_a_minute_without_a_failure() -> None:
    known = callers()
    fail(known, ALICE, 1000.0)
    proven(known, 1001.0, sound_from=1000.5)
    fail(known, ALICE, 1000.0 + ROW_SECONDS + 1)
    assert proven(known, 1070.0, sound_from=1050.0).is_empty


def test_what_an_outage_explains_is_forgiven() -> None:
    known = callers()
    fail(known, ALICE, 1000.0, 1001.0)
    known.forgive(NAME)
    assert proven(known, 1010.0, sound_from=1009.0).is_empty
    fail(known, ALICE, 1011.0)
    assert proven(known, 1012.0, sound_from=1009.0).is_empty


def test_what_is_never_proven_is_forgotten() -> None:
    known = callers()
    fail(known, ALICE, 1000.0)
    assert proven(known, 1601.0, sound_from=LONG_AGO).is_empty
    assert proven(known, 1602.0, sound_from=1601.5).is_empty


def test_a_caller_is_refused_at_one_model_and_a_payer_at_all() -> None:
    known = callers()
    known.hear({ALICE.at(NAME): 1060.0, BOB.payer: 1030.0}, are_rows=True, now=1000.0)
    waits = [known.wait(*each, 1000.0) for each in ((ALICE, NAME), (ALICE, OTHER))]
    assert waits == [60.0, 0.0]
    assert [known.wait(BOB, name, 1000.0) for name in (NAME, OTHER)] == [30.0, 30.0]
    assert known.wait(BOB, NAME, 1030.0) == 0.0


def test_a_free_account_without_a_network_has_a_quota_of_its_own() -> None:
    assert Caller(UUID(int=5), "").payer == Caller(UUID(int=5)).payer
    assert FREE[0].payer == FREE[1].payer


def test_a_refusal_of_a_network_is_one_of_all_its_free_accounts_and_of_no_other() -> None:
    known = callers()
    known.hear({f"network:{NETWORK}": 1060.0}, are_rows=False, now=1000.0)
    assert [known.wait(each, NAME, 1000.0) for each in (*FREE, ALICE)] == [60.0, 60.0, 0.0]


def test_a_process_remembers_a_bounded_number_of_callers() -> None:
    known = callers()
    for number in range(MAX_ROWS + 10):
        known.failed(Caller(UUID(int=number)), NAME, 1000.0)
    assert len(known._rows) == MAX_ROWS


@given(
    st.lists(
        st.tuples(st.sampled_from(["fail", "serve", "probe"]), st.sampled_from([ALICE, BOB])),
        max_size=60,
    )
)
def test_each_failure_counts_once_if_the_provider_was_sound_since_the_first_of_its_row(
    acts: list[tuple[str, Caller]],
) -> None:
    known, now, sound_from = callers(), 1000.0, LONG_AGO
    open_rows: dict[Caller, list[float]] = {ALICE: [], BOB: []}
    waiting: list[float] = []  # the beginnings of the rows of failures that are not proven
    counted = expected = 0
    for act, caller in acts:
        now += 0.5
        if act == "fail":
            open_rows[caller].append(now)
            known.failed(caller, NAME, now)
            waiting.append(open_rows[caller][0])
        else:
            sound_from = now
            if act == "serve":
                known.served(caller, NAME)
                open_rows[caller].clear()
        counted += sum(proven(known, now, sound_from).failures.values())
        expected += sum(since < sound_from for since in waiting)
        waiting = [since for since in waiting if since >= sound_from]
        assert counted == expected
