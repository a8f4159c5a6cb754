"""What a planner changes of a subtask that it was shown."""

from typing import Any

import pytest

from projects.plan_edits import edited_fields

SHOWN = {
    "key": "b",
    "title": "Winds",
    "instructions": "List the winds of the sea, and say of each its season.",
    "acceptance": ["It lists six."],
    "depends_on": ["a"],
}


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"title": "Bread"}, {"title": "Bread"}),
        ({"colour": "blue", "rewrite": True, "status": "completed"}, {}),
        (
            {"add_to_instructions": "And bread."},
            {"instructions": f"{SHOWN['instructions']}\n\nAnd bread."},
        ),
        ({"add_to_instructions": "  "}, {}),
        ({"add_to_instructions": 7, "add_to_acceptance": None}, {}),
        ({"add_to_acceptance": "Bread."}, {"acceptance": ["It lists six.", "Bread."]}),
        (
            {"acceptance": ["New."], "add_to_acceptance": ["Bread."]},
            {"acceptance": ["New.", "Bread."]},
        ),
        ({"instructions": "Bread.", "rewrite": True}, {"instructions": "Bread."}),
        (
            {"instructions": "List the winds of the sea, and say of each its bread."},
            {"instructions": "List the winds of the sea, and say of each its bread."},
        ),
        (
            {"instructions": "Bread.", "rewrite": True, "add_to_instructions": "Salt."},
            {"instructions": "Bread.\n\nSalt."},
        ),
        ({"instructions": 7}, {"instructions": 7}),
    ],
)
def test_a_change_replaces_what_it_names_and_adds_what_it_adds(
    change: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert edited_fields(SHOWN, {"key": "b", **change}) == ({"key": "b", **fields}, None)


@pytest.mark.parametrize("text", ["Bread.", "", "Also mention bread and butter, and salt."])
def test_a_text_that_leaves_out_most_of_the_old_one_is_a_fault(text: str) -> None:
    _, fault = edited_fields(SHOWN, {"key": "b", "instructions": text})
    assert fault is not None
    assert '"add_to_instructions"' in fault


@pytest.mark.parametrize("points", [{"a": 1}, 7, ["x", 7]])
def test_points_that_are_no_texts_are_left_to_the_check_of_the_plan(points: Any) -> None:
    fields, fault = edited_fields(SHOWN, {"key": "b", "add_to_acceptance": points})
    assert fault is None
    assert fields["acceptance"] != SHOWN["acceptance"]
