"""The recipes of CONTRIBUTING.md are true: each is carried out on a copy of the tree, as it stands.

It changes the files that it names and no others, its tests pass, and a part that is left out is
noticed. The examples are in `tests/recipes/`.
"""

from pathlib import Path

import pytest

from tests.recipes import act, field, flag, mail, provider, screen
from tests.recipes.complete import assert_complete
from tests.recipes.recipe import AnchorMissing, Recipe, carry_out, replace
from tests.recipes.text import texts
from tests.recipes.tree_copy import copy_of_the_tree

OF_THE_SERVICE = [each.RECIPE for each in (provider, act, field, flag, mail)]
# That of a screen needs a browser: tests/web/drill_recipe.py.
RECIPES = [*OF_THE_SERVICE, screen.RECIPE]

pytestmark = pytest.mark.timeout(900)


def test_every_recipe_is_carried_out() -> None:
    assert sorted(texts()) == sorted(recipe.title for recipe in RECIPES)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_step_is_carried_out_and_what_no_test_notices_is_marked(recipe: Recipe) -> None:
    text = texts()[recipe.title]
    assert {part.step for part in recipe.parts} | recipe.unneeded == {
        *range(1, len(text.steps) + 1)
    }
    unnoticed = {part.step for part in recipe.parts if part.gate is None and not part.untried}
    assert unnoticed <= text.marked


@pytest.mark.parametrize("recipe", OF_THE_SERVICE, ids=lambda recipe: recipe.name)
def test_a_recipe_that_is_carried_out_is_complete_and_no_part_of_it_is_idle(
    recipe: Recipe, tmp_path: Path
) -> None:
    assert_complete(recipe, copy_of_the_tree(tmp_path / "tree"))


def test_a_recipe_whose_anchor_is_gone_says_which(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text("name = 1\nname = 1\n")
    for anchor, count in (("name = 1\n", 2), ("title", 0)):
        with pytest.raises(AnchorMissing, match=rf"field.*models\.py.*{count} times"):
            carry_out(replace("models.py", anchor, "x"), tree=tmp_path, recipe=field.RECIPE)
