"""What each kind of step is told, as docs/api/projects.md says."""

import pytest

from devserver.paths import ROOT
from projects.tests.told import Told
from tests.documents import rows, section

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("providers")]

COLUMNS = ("plan", "repair", "work", "revision", "review", "reply", "final")
WHOLE, NONE = "whole", "\N{EN DASH}"
# For each row, what a word of the document means: these texts are in the prompt, and those of the
# row's other words are not.
FACTS: dict[str, dict[str, set[str]]] = {
    "the goal": {WHOLE: {"WORDGOAL"}},
    "the models, with your notes": {WHOLE: {"<models>"}},
    "the summary of the plan": {WHOLE: {"WORDSUMMARY"}},
    "the final instructions": {WHOLE: {"WORDFINAL"}},
    "the part's own instructions and points": {WHOLE: {"WORDBRIEF", "WORDPOINT"}},
    "the other parts": {
        "titles": {"Other part"},
        WHOLE: {"Other part", "WORDOTHERBRIEF", "WORDBASEBRIEF"},
    },
    "your messages since the start": {WHOLE: {"WORDMESSAGE"}},
    "the planner's replies": {WHOLE: {"WORDREPLY"}},
    "notes to the part": {WHOLE: {"WORDNOTE"}},
    "results that it depends on": {
        "summaries": {"WORDBASESUMMARY"},
        "texts": {"WORDBASEBODY 3"},
        "texts and files": {"WORDBASEBODY 3", "WORDBASEFILE"},
    },
    "results of other parts": {"summaries": {"WORDOTHERSUMMARY"}, "texts": {"WORDOTHERBODY"}},
    "parts without a result": {
        "named": {"[It has no result.]"},
        "named, and why": {"has failed"},
    },
    "what is still wrong with results": {WHOLE: {"WORDBASEISSUE"}},
    "the original files": {WHOLE: {"WORDOLDLINE", "WORDTIDE"}},
    "the files that are written": {
        "names": {"base.md (create)"},
        WHOLE: {'<file name="src/app.py" op="update">', "WORDNEWLINE"},
    },
    "the digest of the repository": {WHOLE: {"WORDDIGEST"}},
    "your uploads": {
        "beginnings": {"WORDUPLOADHEAD"},
        WHOLE: {"WORDUPLOADHEAD", "WORDUPLOADTAIL"},
    },
    "the earlier attempt": {WHOLE: {"WORDBEFORE"}},
    "what its review asked for": {WHOLE: {"WORDASKED"}},
    "what of an answer cannot be used": {
        "of the plan": {'The "key" of Subtask 1'},
        "of the attempt": {"../worderror"},
    },
    "what is left of the budget": {WHOLE: {"of $7.31"}},
    "the limits of a plan": {WHOLE: {"at most 9 subtasks"}},
}


def stated() -> dict[str, dict[str, str]]:
    """The table: row, column, word."""
    table = rows(section(ROOT / "docs/api/projects.md", "What each step is told"))
    return {name: dict(zip(COLUMNS, words, strict=True)) for name, *words in table}


@pytest.fixture
def told() -> Told:
    return Told()


def test_each_step_is_told_what_the_document_says(told: Told) -> None:
    table = stated()
    assert table.keys() == FACTS.keys()
    for name, cells in table.items():
        assert {*cells.values()} - {NONE} == FACTS[name].keys()
    wrong = []
    for column in COLUMNS:
        prompt = told.told(column).lower()
        for name, words in FACTS.items():
            expected = words.get(table[name][column], set())
            found = {fact for facts in words.values() for fact in facts if fact.lower() in prompt}
            if found != expected:
                wrong.append((name, column, sorted(found ^ expected)))
    assert wrong == []
