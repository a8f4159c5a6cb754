"""The list of mutations (tests/mutations): each can be applied to the tree as it is."""

from collections import Counter

from tests.mutations.mutation import mutations, problems

MUTATIONS = list(mutations())


def test_every_mutation_can_be_applied_and_names_its_tests() -> None:
    found = {each.breaks: wrong for each in MUTATIONS if (wrong := problems(each))}
    assert found == {}


def test_every_area_has_mutations() -> None:
    areas = Counter(each.area for each in MUTATIONS)
    assert set(areas) == {"fences", "limits", "locks", "money", "ownership", "prompts", "roles"}
    assert min(areas.values()) >= 10
    assert areas.total() >= 80


def test_no_mutation_is_there_twice() -> None:
    texts = Counter((each.file, each.old, each.new) for each in MUTATIONS)
    assert [text for text, times in texts.items() if times > 1] == []
    assert len({each.breaks for each in MUTATIONS}) == len(MUTATIONS)
