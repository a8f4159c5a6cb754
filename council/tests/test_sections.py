"""Reading what a model says in a debate, in whatever pieces and form it comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.sections import MAX_NOTE, PREAMBLE, Sections, answer_so_far, read, revise

IN_FORM = (
    "<errors_found>B is off by 10.</errors_found>\n"
    "<points_conceded>The depth.</points_conceded>\n"
    "<points_held>The unit.</points_held>\n"
    "<revised_answer>\n3,688 m.\n</revised_answer>"
)
LONG = "word " * PREAMBLE

# What a model may write: sections, well or badly closed, and anything between them.
_PIECES = st.sampled_from(
    [
        *(
            f"<{slash}{tag}>"
            for slash in ("", "/")
            for tag in ("errors_found", "points_conceded", "points_held", "revised_answer")
        ),
        "UNCHANGED",
        "**UNCHANGED**",
        "</revised_",
        "<",
        "deep 🌊 ",
        " \n",
        LONG,
    ]
)
TEXTS = st.lists(_PIECES | st.text(max_size=20), max_size=12).map("".join)


def test_the_sections_are_told_apart() -> None:
    assert read(IN_FORM) == Sections("B is off by 10.", "The depth.", "The unit.", "3,688 m.")


def test_the_order_of_the_sections_does_not_matter() -> None:
    text = "<revised_answer>3,688 m.</revised_answer><errors_found>B.</errors_found>"
    assert read(text) == Sections(errors="B.", answer="3,688 m.")


def test_the_answer_is_seen_while_it_is_written() -> None:
    text = f"<errors_found>None.</errors_found><revised_answer>{LONG}and a half</revised_ans"
    assert answer_so_far(text) == f"{LONG}and a half"


@pytest.mark.parametrize(
    "text",
    [
        IN_FORM,
        "<revised_answer>UNCHANGED</revised_answer>",
        "<revised_answer>\n__UNCHANGED__, for I am right.",
        "<revised_answer>3 < 4</ b></revised_answer> So it is.",
        f"{'deep ' * 90}UNCHANGED",
        f"{' ' * 500}UNCHANGED",
    ],
)
def test_nothing_is_seen_too_early(text: str) -> None:
    for end in range(len(text)):
        assert (read(text).answer or "").startswith(answer_so_far(text[:end])), end


@given(TEXTS, st.data())
def test_what_was_seen_at_any_moment_begins_what_is_there_in_the_end(
    text: str, data: st.DataObject
) -> None:
    seen = answer_so_far(text[: data.draw(st.integers(0, len(text)))])
    assert (read(text).answer or "").startswith(seen)


@given(TEXTS, st.data())
def test_what_was_seen_is_never_taken_back(text: str, data: st.DataObject) -> None:
    early, late = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    assert answer_so_far(text[:late]).startswith(answer_so_far(text[:early]))


@given(TEXTS)
def test_notes_are_bounded_and_tell_nothing_of_the_tags(text: str) -> None:
    found = read(text)
    for note in (found.errors, found.conceded, found.held):
        assert len(note) <= MAX_NOTE
        assert "<revised_answer>" not in note


@given(st.text(st.characters(exclude_characters="<U")))
def test_a_text_without_sections_is_all_answer(text: str) -> None:
    assert read(text) == Sections(answer=text.strip() or None)


def test_a_long_text_without_sections_is_seen_while_it_is_written() -> None:
    assert answer_so_far(LONG) == LONG.strip()


def test_sections_that_begin_late_belong_to_the_answer() -> None:
    text = f"{LONG} {IN_FORM}"
    assert read(text) == Sections(answer=text)


def test_a_few_words_before_the_sections_are_passed_over() -> None:
    assert read(f"Here is my review.\n\n{IN_FORM}") == read(IN_FORM)


@pytest.mark.parametrize(
    "said", ["UNCHANGED", "**UNCHANGED**", "\n UNCHANGED.\n", "UNCHANGED\n\nI stand by it."]
)
def test_an_answer_that_is_said_to_stand_stands(said: str) -> None:
    text = f"<points_held>All.</points_held><revised_answer>{said}</revised_answer>"
    assert read(text) == Sections(held="All.")
    assert answer_so_far(text) == ""


def test_a_word_that_only_begins_like_it_is_an_answer() -> None:
    assert read("<revised_answer>UNCHANGEDNESS reigns.</revised_answer>").answer is not None


@pytest.mark.parametrize(
    "text",
    [
        "<errors_found>B is wrong, and then the tokens",
        "<errors_found>B.</errors_found><revised_answer></revised_answer>",
        "<errors_found>B.</errors_found>",
    ],
)
def test_an_answer_that_never_came_leaves_the_old_one(text: str) -> None:
    assert read(text).answer is None
    assert read(text).errors.startswith("B")


def test_an_answer_without_its_tags_follows_the_last_section() -> None:
    text = "<errors_found>None.</errors_found>\n3,688 m."
    assert read(text) == Sections(errors="None.", answer="3,688 m.")


def test_a_section_without_its_end_ends_where_the_next_begins() -> None:
    text = "<errors_found>B.<points_held>All.<revised_answer>3,688 m."
    assert read(text) == Sections(errors="B.", held="All.", answer="3,688 m.")


def test_a_revision_tells_whether_anything_has_changed() -> None:
    same = IN_FORM.replace("3,688", "4,000")
    for text, changed in ((IN_FORM, True), (same, False), ("UNCHANGED", False)):
        answer, details = revise(text, "4,000 m.", failed=False)
        assert details["changed"] is changed
        assert answer == ("3,688 m." if changed else "4,000 m.")


def test_a_call_that_failed_says_no_more_than_it_has_said() -> None:
    answer, details = revise("<errors_found>B.</errors_found>", "4,000 m.", failed=True)
    assert (answer, details["changed"]) == ("", False)
    answer, details = revise("<revised_answer>3,6", "4,000 m.", failed=True)
    assert (answer, details["changed"]) == ("3,6", False)
