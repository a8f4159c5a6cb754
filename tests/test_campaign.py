"""The campaign (docs/operations/campaign.md): its schedules and its oracle."""

import json
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.provider_health.switches import NAMES
from bench.campaign import report
from bench.campaign.acts import ACTS as CARRIED_OUT
from bench.campaign.acts.exports import problems
from bench.campaign.acts.repositories import BRANCH
from bench.campaign.life import Outcome
from bench.campaign.notes import Answer, Note
from bench.campaign.oracle.files import check_uploads
from bench.campaign.oracle.money import Books
from bench.campaign.oracle.repositories import check_commits
from bench.campaign.oracle.sessions import wrong_of_a_reply
from bench.campaign.recovery import Breakage, in_flight, looking_at_worker, recovery
from bench.campaign.schedule import ACTS, FAULTS, LEAVER, PROVIDERS, Act, schedule
from integrations.githosts.tests.hosted import git
from media.files.types import storage_path

SEEDS, LENGTHS = st.integers(0, 10_000), st.floats(4, 30)


@given(SEEDS, LENGTHS)
def test_a_seed_has_one_schedule(seed: int, seconds: float) -> None:
    assert schedule(seed, seconds) == schedule(seed, seconds)
    assert [act.options for act in schedule(seed, seconds).acts] == [
        act.options for act in schedule(seed, seconds).acts
    ]
    assert schedule(seed, 12) == schedule(seed, 12.0)


@given(SEEDS, LENGTHS)
def test_all_that_a_schedule_has_is_over_with_its_traffic(seed: int, seconds: float) -> None:
    life = schedule(seed, seconds)

    assert all(0 <= act.at <= seconds for act in life.acts)
    assert all(fault.at + fault.seconds <= seconds + 0.1 for fault in life.faults)
    assert len({act.number for act in life.acts}) == len(life.acts)


@given(SEEDS, LENGTHS)
def test_who_has_left_does_nothing_more(seed: int, seconds: float) -> None:
    acts = schedule(seed, seconds).acts
    left = [act.at for act in acts if act.kind == "departure"]

    assert all(act.at <= at for at in left for act in acts if act.person == LEAVER)


def test_different_seeds_bring_every_act_and_every_fault() -> None:
    lives = [schedule(seed, 12) for seed in range(1, 201)]

    assert {act.kind for life in lives for act in life.acts} == {*ACTS, "departure"}
    assert set(CARRIED_OUT) == {*ACTS, "departure"}
    assert {fault.kind for life in lives for fault in life.faults} == set(FAULTS)
    assert any(life.month_ends_at for life in lives)
    assert set(PROVIDERS) <= set(NAMES)


# --- What is told ---------------------------------------------------------------------------------


def test_recovery_takes_until_each_process_was_well_once() -> None:
    web, worker = [1.0, 5.0, 9.0], [2.0, 7.5]

    assert recovery([web, worker], since=3.0) == 4.5
    assert recovery([web, worker], since=8.0) is None


def test_a_worker_is_asked_again_after_each_start_and_each_fault() -> None:
    answers, breakages = [True, False, True, False, True], [Breakage("freeze a worker", 0.0)]
    worker: Any = SimpleNamespace(
        starts=1, is_ready=lambda: answers.pop(0), process=SimpleNamespace(exit_code=None)
    )
    is_well = looking_at_worker(worker, breakages)

    assert [is_well(), is_well()] == [True, True]
    breakages[0].over_at = 1.0
    assert [is_well(), is_well(), is_well()] == [False, True, True]
    worker.starts = 2
    assert [is_well(), is_well(), is_well()] == [False, True, True]
    worker.process.exit_code = -9
    assert not is_well()
    assert answers == []


def test_calls_are_in_flight_from_their_beginning_to_their_end() -> None:
    times = ((1.0, 3.0), (2.0, None), (2.5, 9.0), (0.0, 2.0))
    journal = [call(started_at=begin, ended_at=end) for begin, end in times]

    assert in_flight(journal, 2.2) == 2


def test_the_report_tells_recoveries_and_a_command_that_works_as_it_stands(tmp_path: Path) -> None:
    outcome = Outcome(schedule(17, 12), tmp_path, violations=["a charge is held"])
    for seconds in (1.0, 3.0, 2.0, None):
        outcome.breakages.append(Breakage("kill a worker", 0.0, in_flight=4, recovery=seconds))

    assert "kill a worker (4 in flight, well after 3.0 s)" in report.progress(1, 1, [outcome])
    [row] = [line for line in report.summary([outcome]).splitlines() if "kill a worker" in line]
    assert row.split() == [
        *["kill", "a", "worker", "4", "4", "4", "1.0", "s", "2.0", "s", "3.0", "s", "1"]
    ]
    command = 'make campaign RUNS=1 SEED=17 ARGS="--seconds 12 --keep"'
    assert command in report.of_life(outcome, tmp_path)


# --- What the oracle sees -------------------------------------------------------------------------


def call(**fields: Any) -> dict[str, Any]:
    """An entry of the journal."""
    return {
        "path": "/openai/v1/chat/completions",
        "outcome": "completed",
        "completion_tokens": 10,
        "tokens_emitted": 10,
        "reasoning_tokens": 0,
        "reasoning_emitted": 0,
        "bytes_emitted": 0,
        "images": 0,
        "images_emitted": 0,
        "seconds": None,
        "audio_seconds": None,
        **fields,
    }


def charge(status: str = "settled", tokens: int = 10) -> Any:
    units = {"tokens_out": tokens}
    return SimpleNamespace(pk=uuid4(), status=status, units=units, tokens_out=tokens)


def answer(paid_by: Any, text: str = "Hello.") -> Answer:
    return Answer(f"chatcmpl-{paid_by.pk.hex}", text, {"completion_tokens": 10})


def judged(
    calls: list[Any],
    charges: list[Any],
    *answers: Answer,
    is_lossy: bool = False,
    then: str = "",
) -> list[str]:
    """What is wrong with a named call of `/v1`, without its beginning."""
    note = Note(Act(1, 0.0, "chat", 0, {"then": then}), "marker", "name")
    note.answers += answers
    books = Books([note], {"marker": calls}, {"marker": charges}, {}, is_lossy)
    return [each.partition("): ")[2] for each in books.check()[0]]


def test_a_call_that_is_billed_as_it_was_answered_is_right() -> None:
    paid = charge()
    assert judged([call()], [paid], answer(paid), answer(paid)) == []


def test_a_call_without_a_charge_is_seen() -> None:
    assert judged([call()], []) == [
        "1 calls and 0 charges",
        "1 calls with output and 0 charges",
    ]


def test_a_second_bill_is_seen() -> None:
    assert "one name is billed 2 times" in judged([call()], [charge(), charge()])


def test_a_bill_above_what_was_put_out_is_seen() -> None:
    assert judged([call()], [charge(tokens=11)]) == ["11 tokens_out are billed, 10 were put out"]


def test_a_whole_answer_may_be_estimated_where_it_was_stopped_or_has_expired() -> None:
    whole = call(bytes_emitted=24)
    assert judged([whole], [charge(tokens=12)], then="stop") == []
    assert judged([whole], [charge(tokens=13)], then="stop") == [
        "13 tokens_out are billed, 12 were put out"
    ]
    assert judged([whole], [charge("expired", tokens=12)]) == []
    assert judged([whole], [charge(tokens=12)]) == ["12 tokens_out are billed, 10 were put out"]


def test_a_name_with_two_answers_is_seen() -> None:
    paid = charge()
    [wrong] = judged([call()], [paid], answer(paid), answer(paid, "Goodbye."))
    assert wrong.startswith("one name has different answers")


def test_a_name_whose_answer_nobody_pays_may_be_answered_anew() -> None:
    lost, paid = charge("released"), charge()
    answers = [answer(lost, "Goodbye."), answer(paid), answer(paid)]
    assert judged([call()] * 2, [lost, paid], *answers, is_lossy=True) == []
    [wrong] = judged([call()] * 2, [lost, paid], *answers)
    assert wrong == f"was answered, and is not billed: ['{answers[0].id}']"


def test_an_answer_that_nobody_pays_is_seen_unless_a_process_has_died() -> None:
    lost = charge("released")
    [wrong] = judged([call()], [lost], answer(lost))
    assert wrong.startswith("was answered, and is not billed")
    assert judged([call()], [lost], answer(lost), is_lossy=True) == []


def test_an_answer_with_another_bill_is_seen() -> None:
    less = charge(tokens=9)
    assert judged([call()], [less], answer(less)) == ["10 tokens were answered, [9] are billed"]


@pytest.mark.parametrize(("name", "wrong"), [("name", 1), (None, 0)])
def test_two_orders_are_seen_where_they_have_one_name(name: str | None, wrong: int) -> None:
    note, charges = Note(Act(1, 0.0, "film", 0, {}), "marker", name), [charge(), charge()]
    orders = {each.pk: each.pk for each in charges}
    books = Books([note], {"marker": [call()] * 2}, {"marker": charges}, orders, False)
    assert len(books.check()[0]) == wrong


def test_reasoning_that_gemini_states_with_a_part_may_be_billed() -> None:
    cut = {"outcome": "error", "tokens_emitted": 1, "reasoning_tokens": 5}
    stream = "/google/v1beta/models/gemini:streamGenerateContent"
    assert judged([call(**cut, path=stream)], [charge("expired", tokens=6)]) == []
    assert judged([call(**cut)], [charge("expired", tokens=6)]) == [
        "6 tokens_out are billed, 1 were put out"
    ]


def test_the_calls_of_who_has_departed_are_compared_with_all_charges_of_nobody_else() -> None:
    """Nothing says any more which of the charges was for which council."""
    council = Note(Act(1, 0.0, "council", LEAVER, {}), "marker")
    departure = Note(Act(2, 0.0, "departure", LEAVER, {}), "left", seen={"departed": True})
    calls = defaultdict(list, {"marker": [call()]})

    def found(*charges: Any) -> list[str]:
        books = Books([council, departure], calls, defaultdict(list, job=[*charges]), {}, True)
        return books.check()[0]

    assert found(charge()) == []
    assert found() == [
        "who has departed: 1 calls and 0 charges",
        "who has departed: 1 calls with output and 0 charges",
    ]


def test_audio_is_billed_by_its_whole_seconds() -> None:
    heard = call(completion_tokens=0, tokens_emitted=0, audio_seconds=2.5)

    def found(seconds: int) -> list[str]:
        paid = charge()
        paid.units = {"seconds": seconds}
        return judged([heard], [paid])

    assert found(3) == []
    assert found(4) == ["4 seconds are billed, 3 were put out"]


@pytest.mark.parametrize(
    ("email", "rows", "wrong"),
    [("alice@example.com", 1, 0), ("bob@example.com", 1, 1), ("alice@example.com", 2, 1)],
)
def test_an_export_of_somebody_else_or_with_missing_rows_is_seen(
    email: str, rows: int, wrong: int
) -> None:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("data/accounts.user.jsonl", json.dumps({"email": email}) + "\n")
        archive.writestr("manifest.json", json.dumps({"rows": {"accounts.user": rows}}))

    assert len(problems(file.getvalue(), "alice@example.com")) == wrong


def test_an_upload_that_has_changed_is_seen(tmp_path: Path) -> None:
    upload_id = str(uuid4())
    sent = Note(Act(1, 0.0, "upload", 0, {}), "marker", seen={"uploads": {upload_id: "The sea.\n"}})
    path = tmp_path / storage_path(upload_id)
    path.parent.mkdir(parents=True)

    assert len(check_uploads(sent, tmp_path)) == 1
    path.write_text("The lake.\n")
    assert len(check_uploads(sent, tmp_path)) == 1
    path.write_text("The sea.\n")
    assert check_uploads(sent, tmp_path) == []


def test_files_that_are_written_to_a_repository_twice_are_seen(tmp_path: Path) -> None:
    def commit(branch: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        git(tmp_path, "checkout", "-q", "-B", branch)
        git(tmp_path, *who, "commit", "-q", "--allow-empty", "-m", "Change")
        return git(tmp_path, "rev-parse", "HEAD").strip()

    git(tmp_path, "init", "-q")
    commit("main")
    note = Note(Act(1, 0.0, "repository", 0, {}), "marker", seen={"folder": str(tmp_path)})

    assert check_commits(note) == []
    note.seen["applied"] = {"commit_sha": commit(BRANCH)}
    assert check_commits(note) == []
    note.seen["applied"] = {"commit_sha": commit(BRANCH)}
    assert check_commits(note) == [f"{note}: its branch has 3 commits"]
    note.seen["applied"] = {"commit_sha": "0" * 40}
    assert "was answered, the branch has" in check_commits(note)[0]


@pytest.mark.parametrize(
    ("code", "paid_by_plan_usd", "wrong"),
    [("interrupted", None, 0), ("interrupted", 0.1, 1), ("upstream_error", None, 1)],
)
def test_a_reply_that_is_told_as_paid_stays_completed(
    code: str, paid_by_plan_usd: float | None, wrong: int
) -> None:
    metadata = {"status": "completed", "usage": {"paid_by_plan_usd": paid_by_plan_usd}}
    read = {"text": "Hello.", "finish": {"messageMetadata": metadata}}
    message = {"content": "Hello.", "status": "failed", "error": {"code": code}}
    assert len(wrong_of_a_reply(message, read)) == wrong
