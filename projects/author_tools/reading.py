"""What `read_file` answers: lines with their numbers."""

from projects.author_tools.arguments import ReadFile, path_of
from projects.author_tools.results import MAX_RESULT, Carried, cut_text
from projects.author_tools.working_copy import Refused, WorkingCopy

_MAX_LINE = 4_000  # characters of a line that is shown whole
_ROOM = MAX_RESULT - 1_000


def read_lines(copy: WorkingCopy, call: ReadFile) -> Carried:
    """Some lines of a file, or all of them. Raises Refused."""
    path = path_of(call.path)
    lines = copy.read(path).replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    first, last = max(1, call.from_line), call.to_line if call.to_line > 0 else len(lines)
    if not lines:
        return Carried(True, f"{path} is empty.", "empty")
    if first > len(lines) or last < first:
        raise Refused(f"{path} has {len(lines)} lines: there are none from {first} to {last}.")
    shown = _within(lines, first, min(last, len(lines)))
    last = first + len(shown) - 1
    place = f"lines {first} to {last} of {len(lines)}"
    rest = f"\n[Go on with from_line={last + 1}.]" if _is_cut(call, last, len(lines)) else ""
    return Carried(True, "\n".join([f"{path}, {place}:", *shown]) + rest, place)


def _within(lines: list[str], first: int, last: int) -> list[str]:
    """The lines that there is room for, one at least."""
    shown: list[str] = []
    room = _ROOM
    for number in range(first, last + 1):
        line = f"{number}\t{cut_text(lines[number - 1], _MAX_LINE)}"
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    return shown


def _is_cut(call: ReadFile, last: int, count: int) -> bool:
    wanted = min(call.to_line, count) if call.to_line > 0 else count
    return last < wanted
