"""Debates as their user follows them, with a worker and the simulator."""

from typing import Any
from uuid import UUID

from council.tests import log
from council.tests.conftest import NewOwner
from council.tests.manual import revised
from council.tests.owner import BALANCE_ONLY, Owner

MODELS = ("gpt-6-luna", "claude-haiku-5-5", "gemini-3.8-flash")
UNCHANGED = "<revised_answer>UNCHANGED</revised_answer>"


def test_a_council_debates_until_nobody_changes_anything(owner: NewOwner) -> None:
    alice = owner()
    models = (MODELS[0], BALANCE_ONLY, MODELS[2])
    session = alice.finished(*models)
    focus = _steering(
        alice,
        {"model": models[0], "text": revised("4 km.", errors="B guesses.")},
        {"model": models[1], "text": UNCHANGED},
        {"model": models[2], "status": 400},
    )
    with alice.follow(session) as follower:
        alice.do("POST", f"/sessions/{session['id']}/debate", rounds=3, focus=focus)

    last = follower.pictures[-1]
    changed, unchanged, failed = last["cards"]
    assert changed["content"] == "4 km."
    assert (changed["current_version"], changed["source"]) == (3, "debate")
    assert unchanged["content"] == session["cards"][1]["content"]
    assert (failed["status"], failed["source"]) == ("completed", "restore")
    assert (failed["current_version"], failed["content"]) == (3, session["cards"][2]["content"])
    assert (last["round"], last["status"]) == (None, "completed")
    alice.check_money(last)
    # Three answers, three in the first round, two in the second; none of them twice.
    assert len(alice.calls()) == 8
    assert len(alice.charges()) == 8
    (completed,) = log.data_of(_id(session), "debate.completed")
    assert (completed["rounds_run"], completed["stopped_early"]) == (2, True)


def test_a_revised_answer_is_seen_while_it_is_written_and_the_notes_are_not(
    owner: NewOwner,
) -> None:
    alice = owner()
    session = alice.finished(*MODELS[:2])
    text = revised("deep " * 60, errors="Many. " * 30)
    with alice.follow(session) as follower:
        focus = _steering(alice, tokens=None, text=text, delay_ms=10)
        alice.do("POST", f"/sessions/{session['id']}/debate", focus=focus)

    for card in follower.pictures[-1]["cards"]:
        assert card["content"] == ("deep " * 60).strip()
        assert card["details"]["errors"] == ("Many. " * 30).strip()
        pieces = [
            delta["text"]
            for delta in log.data_of(_id(session), "card.delta")
            if (delta["card_id"], delta["version"]) == (card["id"], 2)
        ]
        assert len(pieces) > 1
        assert "".join(pieces) == card["content"]


def test_a_debate_with_the_simulator_ends_by_itself(owner: NewOwner) -> None:
    alice = owner()
    session = alice.finished(*MODELS[:2], prompt="How deep is the sea?")
    with alice.follow(session) as follower:
        alice.do("POST", f"/sessions/{session['id']}/debate", rounds=3)

    assert [card["current_version"] for card in follower.pictures[-1]["cards"]] == [3, 3]
    for card in follower.pictures[-1]["cards"]:
        assert card["content"].endswith("nothing else changes.")
        assert " read." in card["content"]
        assert card["details"]["held"]


def _steering(owner: Owner, *for_models: dict[str, Any], **options: Any) -> str:
    """A focus that steers the simulator. In the prompt, tags are not left as they are."""
    return owner.text(*for_models, words="The number.", **options).replace("<", "\\u003c")


def _id(session: dict[str, Any]) -> UUID:
    return UUID(session["id"])
