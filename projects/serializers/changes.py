"""Staged changes, and what became of an order to write some, in answers and events."""

from collections import Counter
from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.inference.fields import ErrorField
from common.fields import WordsField
from integrations.workspaces.changes import FaultCode
from projects.models import Apply
from projects.selectors.changes import Changes, status_of
from projects.types import ChangesState

_STATUSES = ("applied", "failed", "skipped")


@extend_schema_serializer(component_name="ProjectApplyCounts")
class CountsSerializer(serializers.Serializer[Any]):
    """How many files were written, refused and skipped."""

    applied = serializers.IntegerField(read_only=True)
    failed = serializers.IntegerField(read_only=True)
    skipped = serializers.IntegerField(read_only=True)


@extend_schema_serializer(component_name="ProjectFileFault")
class FileFaultSerializer(serializers.Serializer[Any]):
    """Why a file was not written; `unchanged` is none that matters."""

    code = serializers.ChoiceField(get_args(FaultCode), read_only=True)
    message = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="ProjectAppliedFile")
class AppliedFileSerializer(serializers.Serializer[Any]):
    """What became of one file. `runs_ci`: a CI service runs it; `merged`: what was written has what
    somebody else had changed as well."""

    path = serializers.CharField(read_only=True)
    op = serializers.ChoiceField(["create", "update", "delete", "move"], read_only=True)
    # Orders of the release that did not have it lack it.
    runs_ci = serializers.BooleanField(read_only=True, default=False)
    status = serializers.ChoiceField(_STATUSES, read_only=True)
    merged = serializers.BooleanField(read_only=True, default=False)
    error = FileFaultSerializer(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="ProjectApplyResult")
class ApplySerializer(serializers.ModelSerializer[Apply]):
    """What became of an order to write staged files. `commit_sha` is null where nothing was
    written; `error` says why the host refused all of it, or the pull request."""

    status = serializers.SerializerMethodField()
    commit_sha = WordsField(source="commit")
    commit_url = WordsField()
    pull_request_url = WordsField()
    files = AppliedFileSerializer(many=True, read_only=True)
    counts = serializers.SerializerMethodField()
    error = ErrorField(read_only=True)
    applied_at = serializers.DateTimeField(source="ended_at", read_only=True, allow_null=True)

    class Meta:
        model = Apply
        fields = [
            *("id", "status", "target", "branch", "message", "commit_sha", "commit_url"),
            *("pull_request_url", "files", "counts", "error", "applied_at"),
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "enum": ["applying", "applied", "partial", "failed"]})
    def get_status(self, apply: Apply) -> str:
        return status_of(apply)

    @extend_schema_field(CountsSerializer)
    def get_counts(self, apply: Apply) -> dict[str, int]:
        found = Counter(file["status"] for file in apply.files)
        return {status: found[status] for status in _STATUSES}


@extend_schema_serializer(component_name="ProjectConflict")
class ConflictSerializer(serializers.Serializer[Any]):
    """What somebody else has changed in a staged file on `branch`. `base_sha` is Git's id of their
    version, null where it is gone. `content` has both sides between conflict markers, or theirs
    where the file is to be deleted; it is null where there is no text."""

    branch = serializers.CharField(read_only=True)
    base_sha = serializers.CharField(read_only=True, allow_null=True)
    content = serializers.CharField(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="ProjectMergedFile")
class MergedFileSerializer(serializers.Serializer[Any]):
    """What was written in the place of a staged file, with what somebody else had changed: `diff`
    is its difference to their version, which has the id `base_sha`."""

    path = serializers.CharField(read_only=True)
    base_sha = serializers.CharField(read_only=True)
    content = serializers.CharField(read_only=True)
    diff = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="ProjectStagedFile")
class StagedFileSerializer(serializers.Serializer[Any]):
    """A file as it would be written. `base_sha` is Git's id of the file that it replaces; `diff`,
    which `git apply` takes, is null where the content of that file is not known; `size` is in
    bytes. `runs_ci`: a CI service runs it, with the secrets of the repository. `conflict`: somebody
    else has changed the file, and the latest order could not merge both."""

    path = serializers.CharField(read_only=True)
    op = serializers.ChoiceField(["create", "update", "delete", "move"], read_only=True)
    previous_path = serializers.CharField(read_only=True, allow_null=True)
    content = serializers.CharField(read_only=True)
    base_sha = serializers.CharField(read_only=True, allow_null=True)
    size = serializers.IntegerField(read_only=True)
    subtask_id = serializers.UUIDField(read_only=True)
    diff = serializers.CharField(read_only=True, allow_null=True)
    runs_ci = serializers.BooleanField(read_only=True)
    conflict = ConflictSerializer(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="ProjectProposal")
class ProposalSerializer(serializers.Serializer[Any]):
    """Where the run proposes to write its files."""

    target = serializers.ChoiceField(["default", "branch"], read_only=True)
    branch = serializers.CharField(read_only=True)
    message = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="ProjectChanges")
class ChangesSerializer(serializers.Serializer[Changes]):
    """The staged changes of a run. `applied` is what became of the latest order to write some, and
    `merged` are the files that it has merged with what somebody else had changed."""

    state = serializers.ChoiceField([each.value for each in ChangesState], read_only=True)
    files = StagedFileSerializer(many=True, read_only=True)
    proposal = ProposalSerializer(read_only=True)
    applied = ApplySerializer(read_only=True, allow_null=True)
    merged = MergedFileSerializer(many=True, read_only=True)


_APPLY = ApplySerializer()


def apply_in_event(apply: Apply) -> dict[str, Any]:
    return _APPLY.to_representation(apply)
