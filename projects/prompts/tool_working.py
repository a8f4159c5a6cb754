"""What the author of a subtask is told that works on a repository by calls of functions."""

from typing import Final

from common.prompt_delimiters import section
from projects.author_tools.calls import MAX_CALLS
from projects.outputs import MAX_SUMMARY_LINES

# What stands in the place of a result for which there is no room any more.
LEFT_OUT: Final = "[Left out for want of room. Call again if you need it.]"
FINISH_NOW: Final = (
    "[This is your last turn: call finish now, with what you have, and say in the result what is "
    "missing.]"
)

TAKEN_OVER: Final = (
    f"[Another author has made these calls. You go on with its work, and have {MAX_CALLS} calls of "
    "your own.]"
)


def tool_form(output: str, mark: str) -> str:
    """How the result is handed in. `mark` is for those who write files without any call."""
    return section(
        "form",
        "You work on the repository by calling functions. It is as it was when the work began, "
        "with what finished parts have changed.\n"
        "- Files that are shown above need not be read again. Search and read what else you need "
        "before you change anything.\n"
        "- Change files by edit_file, write_file, delete_file and move_file alone, and do not "
        "repeat their contents in words. Nothing that you write can be run or tested here.\n"
        f"- Several calls may stand in one answer. You have {MAX_CALLS} in all.\n"
        f"- When all is done, call finish: its result is {output}, as Markdown, and its summary "
        f"has at most {MAX_SUMMARY_LINES} lines for those who do the other parts.\n"
        "- If you cannot call functions, answer with the result as text. A file in it stands "
        f"between a line `@@FILE {mark} create its/path` and a line `@@END {mark}`, in full.",
    )


def tool_revision(mark: str) -> str:
    """What to do about the points of a review. The files are as the author has left them."""
    return (
        "Mend these points. Your files are as you have left them: read and edit them, and then "
        f"call finish with the whole result. The mark is {mark} now."
    )


def calls_left(count: int) -> str:
    """Told with a result where few calls are left."""
    return f"[{count} call{'' if count == 1 else 's'} left. Then you have to finish.]"
