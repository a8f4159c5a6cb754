"""The bodies and queries of `/api/project`."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from ai.catalog.fields import ChatModelField
from common.fields import (
    BoundedListField,
    CentsField,
    FlagField,
    IdField,
    PromptField,
    TextField,
    TitleField,
    WholeNumberField,
)
from events.inbox import MAX_BODY
from integrations.workspaces.branches import MAX_BRANCH, branch_fault
from integrations.workspaces.types import MAX_REPOSITORY
from projects.exports import FileFormat
from projects.outputs import MAX_FILE, MAX_FILES, OutputFile
from projects.paths import MAX_PATH, fault_of
from projects.services.resolving import ResolvedFile
from projects.types import (
    MAX_APPLIED_FILES,
    MAX_BUDGET_USD,
    MAX_COMMIT_MESSAGE,
    MAX_GOAL,
    MAX_INSTRUCTIONS,
    MAX_KEY,
    MAX_OUTPUT_TOKENS,
    MAX_PARALLEL,
    MAX_RESULT,
    MAX_ROSTER,
    MAX_SUBTASKS,
    MAX_SUMMARY,
    MAX_TITLE,
    MAX_UPLOADS,
    RunStatus,
)

# Characters of Git's ids.
MAX_SHA = 64
# Characters of a path of a repository, which others than us have made.
MAX_REPOSITORY_PATH = 4_096


@extend_schema_serializer(component_name="ProjectSessionInput")
class RunInputSerializer(serializers.Serializer[Any]):
    """A goal, and how it is worked on. `models` are those that the run may call; without it, all
    that you have not disabled."""

    prompt = PromptField(source="goal", max_length=MAX_GOAL)
    title = TitleField(max_length=MAX_TITLE, required=False, allow_blank=True)
    models = BoundedListField(
        child=ChatModelField(), source="roster", max_length=MAX_ROSTER, required=False
    )
    planner_model = ChatModelField(
        required=False, help_text="Without one, the first of your favourites."
    )
    reviewer_model = ChatModelField(
        required=False,
        help_text="Reviews what other vendors' models have written, be it one of `models` or not. "
        "Without one, each result is reviewed by some model of another vendor.",
    )
    upload_ids = BoundedListField(child=IdField(), max_length=MAX_UPLOADS, required=False)
    workspace_id = IdField(
        required=False, allow_null=True, help_text="Work on a repository of this workspace."
    )
    repo = TextField(
        source="repository",
        max_length=MAX_REPOSITORY,
        required=False,
        help_text="Its full name, as `repos` of the workspace lists it.",
    )
    branch = TextField(
        max_length=MAX_BRANCH,
        required=False,
        allow_blank=True,
        help_text="Begin at the newest commit of this branch; by default of the default branch.",
    )
    max_subtasks = WholeNumberField(min_value=1, max_value=MAX_SUBTASKS, default=MAX_SUBTASKS)
    max_parallel = WholeNumberField(min_value=1, max_value=MAX_PARALLEL, default=MAX_PARALLEL)
    review = FlagField(source="reviews", default=True)
    approve_plan = FlagField(
        default=False, help_text="Wait with the work until you have seen the plan."
    )
    max_output_tokens = WholeNumberField(
        min_value=1,
        max_value=MAX_OUTPUT_TOKENS,
        required=False,
        allow_null=True,
        help_text="Bounds each answer. Without it models write as much as they can and you can "
        "pay.",
    )
    budget_usd = CentsField(
        source="budget",
        least=0.01,
        most=MAX_BUDGET_USD,
        required=False,
        allow_null=True,
        help_text="What the run may cost at most, from plan and balance.",
    )
    notify_by_mail = FlagField(
        source="wants_mail",
        default=False,
        help_text="Tell you by mail when the run is paused otherwise than by you, or has ended.",
    )

    def validate_branch(self, branch: str) -> str:
        fault = branch_fault(branch) if branch else None
        if fault is not None:
            raise serializers.ValidationError(fault)
        return branch

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        has_workspace, repository = values.get("workspace_id") is not None, values.get("repository")
        if has_workspace and not repository:
            raise serializers.ValidationError({"repo": "Name a repository of the workspace."})
        if repository and not has_workspace:
            problem = "Name the workspace that the repository is reached by."
            raise serializers.ValidationError({"workspace_id": problem})
        if values.get("branch") and not repository:
            raise serializers.ValidationError({"repo": "Name the repository of the branch."})
        return values


@extend_schema_serializer(component_name="ProjectEstimateInput")
class EstimateInputSerializer(serializers.Serializer[Any]):
    """A goal, and how it would be worked on; the fields are those of a run that starts."""

    prompt = PromptField(source="goal", max_length=MAX_GOAL)
    models = BoundedListField(
        child=ChatModelField(), source="roster", max_length=MAX_ROSTER, required=False
    )
    planner_model = ChatModelField(required=False)
    reviewer_model = ChatModelField(required=False)
    max_subtasks = WholeNumberField(min_value=1, max_value=MAX_SUBTASKS, default=MAX_SUBTASKS)
    max_parallel = WholeNumberField(min_value=1, max_value=MAX_PARALLEL, default=MAX_PARALLEL)
    review = FlagField(source="reviews", default=True)


@extend_schema_serializer(component_name="ProjectSessionChanges")
class RunChangesInputSerializer(serializers.Serializer[Any]):
    """An empty title restores the first line of the goal. A budget counts for the calls to come,
    and is at least what the run has cost, with what is held for calls that run."""

    title = TitleField(max_length=MAX_TITLE, required=False, allow_blank=True)
    budget_usd = CentsField(
        source="budget",
        least=0.01,
        most=MAX_BUDGET_USD,
        required=False,
        allow_null=True,
        help_text="What the run may cost at most, from plan and balance; null is no bound.",
    )
    max_output_tokens = WholeNumberField(
        min_value=1,
        max_value=MAX_OUTPUT_TOKENS,
        required=False,
        allow_null=True,
        help_text="What each answer to come may be long at most; null is what its model can write.",
    )
    notify_by_mail = FlagField(source="wants_mail", required=False)


@extend_schema_serializer(component_name="ProjectSessionsQuery")
class RunsQuerySerializer(serializers.Serializer[Any]):
    """The filters of a list of runs."""

    q = TextField(
        max_length=MAX_TITLE,
        required=False,
        allow_blank=True,
        help_text="What the title has in it, in capitals or not.",
    )
    status = serializers.ChoiceField([each.value for each in RunStatus], required=False)


@extend_schema_serializer(component_name="ProjectControlInput")
class ControlInputSerializer(serializers.Serializer[Any]):
    action = serializers.ChoiceField(["pause", "resume", "cancel", "finish", "rewrite"])


@extend_schema_serializer(component_name="ProjectMessageInput")
class MessageInputSerializer(serializers.Serializer[Any]):
    content = PromptField(max_length=MAX_BODY)


@extend_schema_serializer(component_name="ProjectReassignInput")
class ReassignInputSerializer(serializers.Serializer[Any]):
    """`instructions` are a note to the model."""

    subtask_id = IdField()
    model_key = ChatModelField(source="model")
    instructions = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


class _WrittenFileSerializer(serializers.Serializer[Any]):
    """A file that its user writes: with a content, which may be empty, unless it is deleted."""

    content = TextField(
        max_length=MAX_FILE,
        required=False,
        allow_blank=True,
        trim_whitespace=False,
        help_text="All of the file, which may be empty. Required, unless `op` is `delete`, which "
        "has none.",
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["op"] != "delete" and "content" not in values:
            problem = 'Give the content of the file. An empty file has the content "".'
            raise serializers.ValidationError({"content": problem})
        if values["op"] == "delete" and values.get("content"):
            problem = "A file that is deleted has no content."
            raise serializers.ValidationError({"content": problem})
        return values


@extend_schema_serializer(component_name="ProjectFileInput")
class FileInputSerializer(_WrittenFileSerializer):
    """A file that you write."""

    path = TextField(max_length=MAX_PATH)
    op = serializers.ChoiceField(["create", "update", "delete"], default="create")

    def validate_path(self, path: str) -> str:
        fault = fault_of(path)
        if fault is not None:
            raise serializers.ValidationError(fault)
        return path


@extend_schema_serializer(component_name="ProjectFilesQuery")
class FilesQuerySerializer(serializers.Serializer[Any]):
    path = TextField(
        max_length=MAX_REPOSITORY_PATH,
        required=False,
        help_text="Only this file, with its content.",
    )
    after = TextField(
        max_length=MAX_REPOSITORY_PATH,
        required=False,
        help_text="Files whose paths come after this one: the next page, as `Link` gives it.",
    )


@extend_schema_serializer(component_name="ProjectExportQuery")
class ExportQuerySerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(get_args(FileFormat), default="md")


@extend_schema_serializer(component_name="ProjectApplyInput")
class ApplyInputSerializer(serializers.Serializer[Any]):
    """Where the staged files are written. What is left out is the run's own proposal."""

    target = serializers.ChoiceField(
        ["default", "branch"], required=False, allow_blank=True, default=""
    )
    branch = TextField(
        max_length=MAX_BRANCH,
        required=False,
        allow_blank=True,
        default="",
        help_text="It begins at the commit of the run where it does not exist.",
    )
    message = PromptField(
        max_length=MAX_COMMIT_MESSAGE, required=False, allow_blank=True, default=""
    )
    files = BoundedListField(
        child=TextField(max_length=MAX_PATH),
        source="paths",
        max_length=MAX_APPLIED_FILES,
        allow_empty=False,
        required=False,
        help_text="Only these, by their paths.",
    )
    pull_request = FlagField(
        default=False, help_text="Open a pull request for the branch, where there is none."
    )

    def validate_branch(self, branch: str) -> str:
        fault = branch_fault(branch) if branch else None
        if fault is not None:
            raise serializers.ValidationError(fault)
        return branch


@extend_schema_serializer(component_name="ProjectDiscardInput")
class DiscardInputSerializer(serializers.Serializer[Any]):
    files = BoundedListField(
        child=TextField(max_length=MAX_PATH),
        source="paths",
        max_length=MAX_FILES * MAX_SUBTASKS,
        allow_empty=False,
        required=False,
        help_text="Only these, by their paths.",
    )


@extend_schema_serializer(component_name="ProjectResolvedFileInput")
class ResolvedFileInputSerializer(_WrittenFileSerializer):
    """A file with both sides. `base_sha` is that of its conflict, whose text yours was made
    from."""

    path = TextField(max_length=MAX_PATH)
    base_sha = TextField(max_length=MAX_SHA, allow_null=True)
    op = serializers.ChoiceField(["update", "delete"], default="update")


@extend_schema_serializer(component_name="ProjectResolveInput")
class ResolveInputSerializer(serializers.Serializer[Any]):
    """Your texts of files that somebody else has changed, too."""

    files = BoundedListField(
        child=ResolvedFileInputSerializer(), max_length=MAX_FILES, allow_empty=False
    )

    def validate_files(self, files: list[dict[str, Any]]) -> list[ResolvedFile]:
        paths = [file["path"] for file in files]
        if len(set(paths)) < len(paths):
            raise serializers.ValidationError("Two files have one path.")
        return [
            ResolvedFile(
                path=file["path"],
                base_sha=file["base_sha"] or "",
                content=None if file["op"] == "delete" else file["content"],
            )
            for file in files
        ]


@extend_schema_serializer(component_name="ProjectReplaceInput")
class ReplaceInputSerializer(serializers.Serializer[Any]):
    """Your result of a subtask."""

    subtask_id = IdField()
    content = PromptField(max_length=MAX_RESULT)
    files = BoundedListField(child=FileInputSerializer(), max_length=MAX_FILES, required=False)

    def validate_files(self, files: list[dict[str, str]]) -> list[OutputFile]:
        paths = [file["path"] for file in files]
        if len(set(paths)) < len(paths):
            raise serializers.ValidationError("Two files have one path.")
        return [
            OutputFile(file["path"], file["op"], file.get("content", ""))  # type: ignore[arg-type]
            for file in files
        ]


@extend_schema_serializer(component_name="ProjectPlanInput")
class PlanInputSerializer(serializers.Serializer[Any]):
    """Changes of a plan. `add` are subtasks with the fields of the plan; `change` are fields of
    subtasks by their `key`; `remove` are keys; `order` are keys, those that come first. Only
    subtasks that are queued can be changed, and only those and the ones that have ended without a
    result can be removed."""

    title = TitleField(max_length=MAX_TITLE, required=False, allow_blank=True)
    summary = PromptField(max_length=MAX_SUMMARY, required=False, allow_blank=True)
    final_instructions = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)
    add = BoundedListField(child=serializers.DictField(), max_length=MAX_SUBTASKS, required=False)
    change = BoundedListField(
        child=serializers.DictField(), max_length=MAX_SUBTASKS, required=False
    )
    remove = BoundedListField(
        child=TextField(max_length=MAX_KEY), max_length=MAX_SUBTASKS, required=False
    )
    order = BoundedListField(
        child=TextField(max_length=MAX_KEY), max_length=MAX_SUBTASKS, required=False
    )
