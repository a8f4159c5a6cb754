"""Reading and checking plans."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from projects.json_answers import find_object
from projects.plans import Known, Plan, UnsoundPlan, read_plan, whole_goal
from projects.sound_parts import sound_part

ROSTER = {"gpt-6.1-sol", "claude-opus-5-5"}


def part(key: str, *depends_on: str, **fields: Any) -> dict[str, Any]:
    return {"key": key, "title": key, "instructions": "Do.", "depends_on": [*depends_on], **fields}


def known(**fields: Any) -> Known:
    return replace(Known(roster=ROSTER, max_subtasks=12), **fields)


def read(*subtasks: Any, most: int = 12, **fields: Any) -> Plan:
    raw = {"title": "Shop", "subtasks": [*subtasks], **fields}
    return read_plan(raw, known(max_subtasks=most))


def faults(*subtasks: Any, **fields: Any) -> list[str]:
    with pytest.raises(UnsoundPlan) as refused:
        read(*subtasks, **fields)
    return refused.value.faults


# --- Sound plans ----------------------------------------------------------------------------------


def test_a_plan_is_read() -> None:
    subtask = part(
        "page",
        title="The\n page",
        acceptance=["It opens.", "It opens.", " "],
        model="gpt-6.1-sol",
        writes=["index.html"],
        output="A page",
    )
    plan = read(subtask, summary="A shop", final={"instructions": "Join them."})
    assert (plan.title, plan.summary, plan.final_instructions) == ("Shop", "A shop", "Join them.")
    [page] = plan.subtasks
    assert (page.key, page.title, page.acceptance) == ("page", "The page", ("It opens.",))
    assert (page.model, page.writes, page.output) == ("gpt-6.1-sol", ("index.html",), "A page")


def test_subtasks_come_in_topological_order() -> None:
    plan = read(part("c", "b"), part("a"), part("b", "a"), part("d"))
    assert [each.key for each in plan.subtasks] == ["a", "b", "c", "d"]


def test_two_that_write_one_file_come_one_after_the_other() -> None:
    plan = read(
        part("one", writes=["a.py"]),
        part("two", writes=["a.py", "b.py"]),
        part("three", writes=["b.py"]),
        part("four"),
    )
    assert {each.key: each.depends_on for each in plan.subtasks} == {
        "one": (),
        "two": ("one",),
        "three": ("two",),
        "four": (),
    }


def test_such_a_dependency_follows_those_that_the_plan_names() -> None:
    plan = read(part("one", "two", writes=["a.py"]), part("two", writes=["a.py"]))
    assert {each.key: each.depends_on for each in plan.subtasks} == {"two": (), "one": ("two",)}


def test_without_a_plan_the_goal_is_the_only_subtask() -> None:
    [only] = whole_goal("Write").subtasks
    assert (only.key, only.title) == ("goal", "Write")


# --- Unsound plans --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subtasks", "fault"),
    [
        ([], "not a list of subtasks"),
        ("all of it", "not a list of subtasks"),
        (["one"], "Subtask 1 is not an object"),
        ([part(f"s{n}") for n in range(200)], "has 200 subtasks, and may have 12"),
        ([part("a"), part("a")], 'Two subtasks have the key "a"'),
        ([part("a", "b")], 'depends on "b", which does not exist'),
        ([part("a", "a")], '"a" depends on itself'),
        ([part("a", "b"), part("b", "c"), part("c", "a")], "The dependencies form a circle"),
        ([part("A B")], 'The "key" of Subtask 1'),
        ([part("k" * 10_240)], 'The "key" of Subtask 1'),
        ([part("a", model="gpt-2")], 'suggests the model "gpt-2", which may not be used'),
        ([part("a", model={"id": 1})], "which may not be used"),
        ([part("a", instructions="")], 'has no "instructions"'),
        ([part("a", instructions=7)], 'has no "instructions"'),
        ([part("a", instructions="x" * 4_001)], "has 4001 characters, and may have 4000"),
        ([part("a", acceptance="It works")], "is not a list of texts"),
        ([part("a", acceptance=["x"] * 11)], "more than 10 entries"),
        ([part("a", writes=["x" * 201])], "more than 200 characters"),
    ],
)
def test_faults_are_said_in_sentences(subtasks: Any, fault: str) -> None:
    with pytest.raises(UnsoundPlan) as refused:
        read_plan({"subtasks": subtasks}, known())
    assert fault in " ".join(refused.value.faults)
    assert all(len(each) < 300 and each.endswith(".") for each in refused.value.faults)


def test_all_faults_are_said_at_once_and_not_without_end() -> None:
    assert len(faults(part("a", title=1), part("b", model="x"))) == 2
    assert len(faults(*(part("!", title=1, instructions=2) for _ in range(12)))) == 12


# --- Files ----------------------------------------------------------------------------------------


def read_with(files: set[str], *subtasks: Any, **fields: Any) -> Plan:
    return read_plan({"subtasks": [*subtasks]}, known(files=files, **fields))


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"reads": ["b.py"]}, 'Subtask "x" reads "b.py", which is not there'),
        ({"reads": ["src/a.py"]}, 'Is it "a.py"?'),
        ({"reads": ["new.py"], "writes": ["new.py"]}, "which no other subtask writes"),
        ({"writes": ["../a.py"]}, 'Subtask "x" cannot write "../a.py". The path has an empty'),
        ({"writes": [".git/config"]}, "in a folder of Git"),
    ],
)
def test_files_that_will_not_do_are_a_fault(fields: Any, fault: str) -> None:
    with pytest.raises(UnsoundPlan) as refused:
        read_with({"a.py"}, part("x", **fields))
    [said] = refused.value.faults
    assert fault in said
    assert read_with({"a.py"}, part("x", **fields), settled=["x"])


def test_what_is_read_of_an_upload_or_without_a_repository_does_not_matter() -> None:
    assert read(part("x", reads=["b.py"])).subtasks[0].reads == ("b.py",)
    assert "cannot write" in faults(part("x", writes=["/a"]))[0]


def test_who_reads_a_file_that_another_one_creates_comes_after_it() -> None:
    plan = read_with(
        {"old.py"},
        part("c", reads=["new.py", "old.py"]),
        part("b", writes=["new.py"]),
        part("a", writes=["old.py"]),
    )
    assert [(each.key, each.depends_on) for each in plan.subtasks] == [
        ("b", ()),
        ("c", ("b",)),
        ("a", ()),
    ]
    with pytest.raises(UnsoundPlan, match="circle"):
        read_with(set(), part("a", reads=["b"], writes=["a"]), part("b", reads=["a"], writes=["b"]))


# --- What is sound of a plan ----------------------------------------------------------------------


def kept(*subtasks: Any, most: int = 4, files: set[str] | None = None, **words: Any) -> Any:
    plan = sound_part({"subtasks": [*subtasks], **words}, known(max_subtasks=most, files=files))
    return None if plan is None else [each.key for each in plan.subtasks]


def test_the_first_parts_are_kept_whose_dependencies_are_among_them() -> None:
    many = [part("z", "s9"), *(part(f"s{n}") for n in range(10))]
    assert kept(*many) == ["s0", "s1", "s2", "s3"]
    assert kept(part("b", "a"), part("a"), part("c", "gone")) == ["a", "b"]
    assert kept(part("a"), part("a", title="Again"), part("b"), part("b", "b")) is None
    assert kept(part("a"), part("b"), part("c", "d"), part("d", "c"), part("e")) == ["a", "b", "e"]


def test_half_a_plan_is_none() -> None:
    assert kept(part("a"), {"key": "b"}) is None
    assert kept(part("a"), {"key": "b"}, {"key": "c"}) is None
    assert kept({"key": "a"}) is None
    assert kept() is None
    assert sound_part("Hm.", known()) is None


def test_words_and_paths_that_will_not_do_are_left_out() -> None:
    raw = {
        "title": 7,
        "summary": "x" * 2_000,
        "subtasks": [part("a", reads=["gone.py", "b.md"], writes=["../x", "a.md"], model="gpt-2")],
    }
    plan = sound_part(raw, known(files={"b.md"}, may_choose=True))
    assert plan is not None
    [a] = plan.subtasks
    assert (a.reads, a.writes, a.model, plan.title) == (("b.md",), ("a.md",), None, "")


def test_what_is_left_out_is_named_in_the_summary() -> None:
    raw = {"summary": "y" * 1_000, "subtasks": [part(f"s{n}", title=f"P{n}") for n in range(20)]}
    plan = sound_part(raw, known(max_subtasks=4))
    assert plan is not None
    [note] = plan.notes
    assert '"P4", "P5"' in note
    assert "and 8 more are left out" in note
    assert plan.summary.endswith(note)
    assert len(plan.summary) <= 1_000


# --- Plans in the answers of models ---------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        'Here is {my plan}:\n```json\n{"a": 1}\n```\nShall I begin?',
        '{"b": 2} and then {"a": 1, "c": "..."}',
        '<html>{% if %}{"a": 1}</html>',
    ],
)
def test_an_object_is_found_between_words(text: str) -> None:
    found = find_object(text)
    assert found is not None
    assert found["a"] == 1


@pytest.mark.parametrize(
    "text", ["", "No.", "{", "{" * 100_000, '{"a":' * 100_000, "<p>{}", "[1]", '{"a": 1']
)
def test_where_there_is_none_nothing_is_found(text: str) -> None:
    assert not find_object(text)


def test_its_texts_can_be_stored() -> None:
    assert find_object(r'{"a\u0000": ["\ud800", {"b": "\u0000x"}]}') == {
        "a": ["\ufffd", {"b": "x"}]
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "subtasks",
                        "key",
                        "title",
                        "instructions",
                        "depends_on",
                        "final",
                        "model",
                        "acceptance",
                        "x",
                    ]
                ),
                inner,
            )
        ),
    )
)
def test_any_json_is_a_plan_or_a_list_of_faults(raw: Any) -> None:
    try:
        plan = read_plan(raw, known())
    except UnsoundPlan as unsound:
        found: list[object] = [*unsound.faults]
        remains = sound_part(raw, known())
        assert remains is None or remains.subtasks
    else:
        found = [*plan.subtasks]
    assert found


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    st.lists(st.integers(0, 5), min_size=12, max_size=12),
)
def test_every_plan_that_is_read_can_be_carried_out(
    pairs: list[tuple[int, int]], files: list[int]
) -> None:
    needs: dict[int, set[str]] = {}
    for later, earlier in pairs:
        needs.setdefault(later, set()).add(f"s{earlier}")
    subtasks = [part(f"s{n}", *needs.get(n, ()), writes=[f"{files[n]}.py"]) for n in range(12)]
    try:
        plan = read(*subtasks)
    except UnsoundPlan:
        return
    done: set[str] = set()
    writers: dict[str, str] = {}
    for each in plan.subtasks:
        assert needs.get(int(each.key[1:]), set()) <= set(each.depends_on) <= done
        [path] = each.writes
        assert path not in writers or writers[path] in each.depends_on
        writers[path] = each.key
        done.add(each.key)
