"""Checks of files that models have written: can they be parsed, and do their links lead anywhere?

Nothing is executed, and what cannot be judged is no fault: a false alarm costs an author's turn.
"""
