"""Authors who know tasks: what they say of one is what the prompt shows, and nothing else."""

import json
import re

import pytest

from simulator.answer import compose
from simulator.competence import turns
from simulator.competence.knowledge import of_task
from simulator.competence.slips import Slip, slip_of
from simulator.steering import Clumsiness, Steering

TAKINGS = "The takings were 48,310 euros, of which 9,240 came from the web shop."
FORM = "<form>\nThe mark is below.\n@@SUMMARY 1234abcd\nthe summary\n@@END 1234abcd\n</form>"
DISCOUNTS = "MOST = 50\n\n    return cents - cents * allowed(percent) // 10\n"


def work(title: str, *sections: str) -> str:
    """The prompt of a work step."""
    task = f"<task>\n{title}\n\nDo it.\n</task>"
    return "\n\n".join(["You carry out one part.", task, *sections, FORM])


def file(name: str, content: str) -> str:
    return f'<file name="{name}">\n{content}\n</file>'


def said(task: str, *texts: str, slip: Slip | None = None) -> str:
    turn = turns.turn_of(task, texts, slip, None)
    assert turn is not None
    return turn.text


def test_a_fact_is_written_that_the_prompt_has() -> None:
    text = said("report", work("Takings", file("takings.txt", TAKINGS)))

    assert "48,310" in text
    assert "9,240" in text


def test_a_fact_that_the_prompt_lacks_is_made_up() -> None:
    text = said("report", work("Takings"))

    assert "48,310" not in text
    assert re.search(r"took \d\d,\d{3} euros", text)


def test_a_file_is_edited_as_it_was_shown() -> None:
    shown = said("bug", work("Mend the discount", file("shop/discounts.py", DISCOUNTS)))

    assert "@@FILE 1234abcd edit shop/discounts.py\n@@OLD 1234abcd\n    return cents" in shown


def test_a_file_that_nobody_has_shown_is_written_from_nothing() -> None:
    text = said("bug", work("Mend the discount", "shop/discounts.py"))

    assert "@@FILE 1234abcd create shop/discounts.py\n    return cents" in text


def test_a_planner_names_a_file_by_a_symbol_that_it_was_shown() -> None:
    def reads(repository: str) -> list[str]:
        prompt = f'You plan the work {{"subtasks": [\n\n<repository>\n{repository}\n</repository>'
        plan = json.loads(said("helper", prompt))
        found: list[str] = plan["subtasks"][0]["reads"]
        return found

    tree = "shop/\n  basket.py\n  money.py\n  receipts.py\n  words.py"
    assert "shop/money.py" in reads(tree)
    assert "shop/words.py" in reads(f"{tree}: in_euros, plural")


def test_a_reviewer_asks_for_what_it_knows_and_the_attempt_lacks() -> None:
    def verdict(*sections: str) -> str:
        task = "<task>\nTakings\n\nDo it.\n</task>"
        attempt = "<attempt>\nThe cafe took 52,000 euros.\n</attempt>"
        form = '<form>\n"verdict": "accept" or "revise"\n</form>'
        review = json.loads(said("report", "\n\n".join([task, *sections, attempt, form])))
        return str(review["verdict"])

    assert verdict() == "accept"
    assert verdict(f"<inputs>\n{file('takings.txt', TAKINGS)}\n</inputs>") == "revise"


def test_instructions_are_an_edit_of_those_that_were_shown() -> None:
    known = of_task("follow_up")
    assert known is not None

    def changed(plan: str) -> str:
        message = "<message>\nAlso mention that we bake bread on Fridays, from 5 in the morning.\n"
        form = '<form>\n{"reply": ""}\n</form>'
        prompt = (
            f"<plan>\n{plan}\n</plan>\n\n<messages>\n{message}</message>\n</messages>\n\n{form}"
        )
        instructions = json.loads(said("follow_up", prompt))["change"][0]["instructions"]
        return str(instructions)

    def subtask(**fields: str) -> str:
        part = {"key": "winter", "title": "What there is in winter", "status": "queued", **fields}
        return f"<subtask>\n{json.dumps(part)}\n</subtask>"

    before = known.part("winter").instructions
    assert changed(subtask()).startswith("Mention in a sentence that we bake bread on Fridays")
    with_words = subtask(instructions=before)
    assert changed(with_words).startswith(f"{before} Mention in a sentence")


def test_an_answer_that_was_cut_goes_on_where_it_ended() -> None:
    prompt = work("Takings", file("takings.txt", TAKINGS))
    whole = said("report", prompt)
    texts = [prompt, whole[:25], "The output limit has cut your answer there. Go on."]

    steering = Steering(competence="report")
    assert compose(texts, "gpt-6-luna", steering, bound=None, thoughts=0).text == whole[25:]


# --- Clumsy ones ----------------------------------------------------------------------------------


def test_a_seed_makes_the_same_mistakes_again() -> None:
    clumsy = Clumsiness(seed=3, mistakes=("cut", "refusal", "missing_file"), share=0.7)
    parts = [f"Part {number}" for number in range(50)]

    def slips() -> list[Slip | None]:
        return [slip_of(clumsy, "work", part, before) for part in parts for before in range(4)]

    assert slips() == slips()
    assert {slip.mistake for slip in slips() if slip is not None} == {*clumsy.mistakes}
    assert {slip_of(clumsy, "work", part, 2) for part in parts} == {None}


@pytest.mark.parametrize(
    ("mistake", "seen"),
    [
        ("missing_file", lambda text: "@@FILE" not in text),
        ("wrong_path", lambda text: "@@FILE 1234abcd create shop/discounts.py" not in text),
        ("stale_edit", lambda text: "\n    something cents - cents" in text),
        ("refusal", lambda text: text == turns.REFUSED),
    ],
)
def test_a_mistake_is_in_the_answer(mistake: str, seen: object) -> None:
    prompt = work("Mend the discount", file("shop/discounts.py", DISCOUNTS))

    assert callable(seen)
    assert seen(said("bug", prompt, slip=Slip(mistake, 0.5, 1)))  # type: ignore[arg-type]
