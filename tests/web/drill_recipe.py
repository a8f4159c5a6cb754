"""The recipe of CONTRIBUTING.md that adds a screen, carried out, and seen in a browser."""

from pathlib import Path

import pytest

from tests.clients.page import needs_browser
from tests.recipes import screen
from tests.recipes.complete import assert_complete
from tests.recipes.tree_copy import copy_of_the_tree
from tests.web_app import needs_packages


@needs_browser
@needs_packages
@pytest.mark.timeout(900)
def test_a_screen_that_is_added_is_complete_and_no_part_of_it_is_idle(tmp_path: Path) -> None:
    assert_complete(screen.RECIPE, copy_of_the_tree(tmp_path / "tree", with_packages=True))
