"""Under which conditions the tasks are done."""

import json
from dataclasses import dataclass
from typing import Any

from bench.quality.material import Task

# One model of each vendor: what one of them cannot do falls to the others.
MODELS = ("gpt-6-luna", "claude-haiku-5-5", "grok-4.7")
# The vendor that fails for good where one does.
FAILING = MODELS[0]


@dataclass(frozen=True, slots=True)
class Condition:
    """`mistakes` are those of clumsy authors in that `share` of the first calls of each step;
    `vendor_fails` for good; `conflicts`: somebody else changes each file that a run changes."""

    name: str
    mistakes: tuple[str, ...] = ()
    share: float = 1.0
    vendor_fails: bool = False
    conflicts: bool = False
    least: int = 0

    def steering(self, task: Task, seed: int, marker: str) -> str:
        """The line of the goal that says how the simulated models work."""
        line: dict[str, Any] = {"competence": task.name, "marker": marker}
        if self.mistakes:
            mistakes = [*self.mistakes]
            line["clumsy"] = {"seed": seed, "mistakes": mistakes, "share": self.share}
        return f"@sim {json.dumps(line)}"


_FILES = ("missing_file", "wrong_path", "fence")
CONDITIONS = (
    Condition("obedient", least=12),
    Condition("answers cut", mistakes=("cut",)),
    Condition("files missing or astray", mistakes=_FILES),
    Condition("conflicts", mistakes=("stale_edit",), conflicts=True),
    Condition(
        "all clumsy",
        mistakes=(
            *("cut", "refusal", "unavailable", "broken", "stale_edit", "bad_arguments", "bad_plan"),
            *_FILES,
        ),
        share=0.6,
        conflicts=True,
        least=10,
    ),
    # The last one: the circuits of what has failed close some time later.
    Condition("a vendor fails", vendor_fails=True),
)
REAL = Condition("real models")
