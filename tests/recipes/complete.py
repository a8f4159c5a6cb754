"""A recipe that is carried out is complete: it changes the files that it names and no others, its
tests pass, and a part that is left out is noticed."""

from tests.recipes.recipe import Part, Recipe
from tests.recipes.text import missing, texts
from tests.recipes.tree_copy import CarriedOutRecipe, TreeCopy


def assert_complete(recipe: Recipe, tree: TreeCopy) -> None:
    carried_out = tree.carry_out_in_copy(recipe)
    text = texts()[recipe.title]
    assert missing(text, recipe, carried_out.changed) == (set(), set())
    assert len(carried_out.changed) == text.count, (
        f"the heading of {recipe.title!r} tells another number"
    )
    done = carried_out.copied.check(recipe.tests)
    assert not done.failed, done.output
    unnoticed = [
        complaint for part in recipe.parts if (complaint := complaint_about(carried_out, part))
    ]
    assert not unnoticed, "\n\n".join(unnoticed)


def complaint_about(carried_out: CarriedOutRecipe, part: Part) -> str:
    """What is wrong with the gate of a part that is left out, or nothing."""
    if part.gate is None:
        return ""
    with carried_out.without(part):
        done = carried_out.copied.check(part.gate.checks)
    name = f"{part.step}. without {part.what}: {', '.join(part.gate.checks)}"
    if not done.failed:
        return f"{name} passes."
    if part.gate.says not in done.output:
        return f"{name} fails without saying {part.gate.says!r}:\n{done.output[-3_000:]}"
    return ""
