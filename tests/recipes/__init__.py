"""The recipes of CONTRIBUTING.md, carried out by a program (`tests/drill_recipes.py`).

One file for each recipe, with an example of what it adds (`recipe`); how it is carried out on a
copy of the tree (`tree_copy`).
"""
