"""Authors who know how to do some tasks, and nothing of what a task is about: whatever they write
of it they have read in the prompt. What a prompt lacks they make up, as plausibly as models do.

`tasks/` has what they know of each task, `slips.py` what clumsy ones do wrong. A steering line with
`competence` calls them for all steps of a run.
"""
