"""Asks for the rest of an answer that was cut by the output limit."""

from typing import Final

# No model is sent its own text as the beginning of the next answer: not all interfaces take that,
# and those of models that think first do not.
GO_ON: Final = (
    "The output limit has cut your answer there. Go on with the very next character, in the middle "
    "of the word or line if need be. Repeat nothing of what is there, add no remark, and end the "
    "answer as you would have ended it."
)
