"""The sections of a council's prompts."""

from typing import Final

from common.prompt_delimiters import PromptDelimiters

TAGS: Final = (
    "question",
    "answers",
    "answer",
    "instructions",
    "focus",
    "task",
    "form",
    "errors_found",
    "points_conceded",
    "points_held",
    "revised_answer",
)
delimit: Final = PromptDelimiters(*TAGS)
