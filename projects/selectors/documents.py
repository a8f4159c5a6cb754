"""A whole run with its texts and files, for exports."""

from uuid import UUID

from msgspec import Struct

from accounts.models import User
from projects.models import AttemptFile
from projects.selectors.deliverables import deliverables_of
from projects.selectors.files import staged_files
from projects.selectors.lookup import get_run


class RunDocument(Struct, frozen=True, kw_only=True):
    """`texts` are names and texts of the deliverables, the final one first, then in the order of
    the plan; `files` are paths and contents, without deleted files."""

    title: str
    goal: str
    summary: str
    texts: list[tuple[str, str]]
    files: list[tuple[str, str]]


def get_document(user: User, run_id: UUID) -> RunDocument:
    """The user's run with its texts and files. Raises NotFound."""
    run = get_run(user, run_id)
    ordered = sorted(deliverables_of(run), key=lambda row: row.subtask_id is not None)
    kept = [file.pk for file in staged_files(run) if file.op != "delete"]
    contents = AttemptFile.objects.filter(pk__in=kept).order_by("path")
    return RunDocument(
        title=run.title,
        goal=run.goal,
        summary=run.plan_summary,
        texts=[(row.name, row.content) for row in ordered],
        files=list(contents.values_list("path", "content")),
    )
