"""Conflicts of staged files with what somebody else has changed in the repository."""

from projects.models import FileMerge, Subtask
from projects.types import MergeState


def conflicts_of(subtask: Subtask) -> dict[str, FileMerge]:
    """Those of the files of a subtask that its author can resolve, by path: with a text of both
    sides, and neither moved nor deleted. Of several attempts with one path that of the latest."""
    merges = FileMerge.objects.filter(
        file__attempt__subtask=subtask, state=MergeState.CONFLICT, text__isnull=False
    )
    changed = merges.filter(file__previous_path="").exclude(file__op="delete")
    in_order = changed.select_related("file").order_by("file__attempt__number")
    return {merge.file.path: merge for merge in in_order}
