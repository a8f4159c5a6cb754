"""Runs of projects: their subtasks, the attempts at these, the calls to models, and what they made.

Every change of a run locks the run's row first. Paths, keys and texts come from models: they are
checked where they are read (`projects.plans`, `projects.outputs`).
"""

from projects.models.results import Apply, Deliverable, FileMerge
from projects.models.runs import (
    Attempt,
    AttemptFile,
    Run,
    RunRows,
    RunUpload,
    Step,
    Subtask,
)

__all__ = [
    "Apply",
    "Attempt",
    "AttemptFile",
    "Deliverable",
    "FileMerge",
    "Run",
    "RunRows",
    "RunUpload",
    "Step",
    "Subtask",
]
