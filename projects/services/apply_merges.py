"""What becomes of staged files that somebody else has changed in the repository."""

from collections.abc import Iterable

from integrations.workspaces.services.rebasing import Merge
from integrations.workspaces.services.writing import Outcome
from projects.models import Apply, FileMerge, Run
from projects.types import MergeState


def note_merges(order: Apply, outcome: Outcome) -> None:
    """Note what an order merges, and the conflicts that it has found. What it noted before, when
    the branch was another, is forgotten."""
    files = {file["path"]: file["file_ids"][0] for file in order.files if file["file_ids"]}
    order.merges.filter(has_base=False).delete()
    order.merges.update(state=MergeState.RESOLVED)
    for path, merge in outcome.merges.items():
        _note(order, files[path], merge)


def _note(order: Apply, file_id: str, merge: Merge) -> None:
    """What the file was made from stays."""
    FileMerge.objects.update_or_create(
        file_id=file_id,
        defaults={
            "order": order,
            "state": MergeState.MERGED if merge.is_clean else MergeState.CONFLICT,
            "sha": merge.sha,
            "theirs": merge.theirs,
            "text": merge.text,
        },
    )


def end_conflicts(run: Run, paths: Iterable[str]) -> None:
    """Forget the conflicts of files that are written."""
    merges = FileMerge.objects.filter(file__attempt__subtask__run=run, file__path__in=[*paths])
    merges.filter(state=MergeState.CONFLICT).delete()
