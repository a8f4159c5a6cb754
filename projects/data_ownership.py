"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Owned
from projects.models import (
    Apply,
    Attempt,
    AttemptFile,
    Deliverable,
    FileMerge,
    Run,
    RunUpload,
    Step,
    Subtask,
)

OWNED = (
    Owned(
        Run,
        owners=("account",),
        exported="id title goal status phase pause_reason error roster checkout_id planner_model"
        " reviewer_model max_subtasks max_parallel reviews budget has_plan needs_approval"
        " plan_title plan_summary final_instructions returned has_final is_finishing"
        " max_output_tokens wants_mail created_at started_at resumed_at ended_at",
        left_out="account_id request_id bad_plans answered",
        on_deletion=Delete(),
    ),
    Owned(
        RunUpload,
        owners=("run__account",),
        exported="id run_id upload_id",
        on_deletion=Delete(),
    ),
    Owned(
        Subtask,
        owners=("run__account",),
        exported="id run_id position key title instructions acceptance depends_on output reads"
        " writes notes max_output_tokens model assigned_by status reason is_stale"
        " needs_attention error current_id created_at",
        on_deletion=Delete(),
    ),
    Owned(
        Attempt,
        owners=("subtask__run__account",),
        exported="id subtask_id number reason model status body summary faults verdict review error"
        " created_at ended_at",
        on_deletion=Delete(),
    ),
    Owned(
        AttemptFile,
        owners=("attempt__subtask__run__account",),
        exported="id attempt_id path op previous_path content size applied_at discarded_at",
        on_deletion=Delete(),
    ),
    Owned(
        FileMerge,
        owners=("file__attempt__subtask__run__account",),
        exported="id file_id order_id state sha theirs text has_base base_sha base",
        on_deletion=Delete(),
    ),
    Owned(
        Step,
        owners=("run__account",),
        exported="id run_id subtask_id attempt_id kind model status outcome beside_others"
        " continues_id goes_on number content finish_reason error result first_seq created_at"
        " ended_at",
        on_deletion=Delete(),
    ),
    Owned(
        Deliverable,
        owners=("run__account",),
        exported="id run_id subtask_id name content size version is_cut is_final created_at"
        " updated_at",
        on_deletion=Delete(),
    ),
    Owned(
        Apply,
        owners=("run__account",),
        exported="id run_id target branch message wants_pull_request commit commit_url"
        " pull_request_url files error created_at ended_at",
        left_out="owner_id claim_until announced_at",
        on_deletion=Delete(),
    ),
)
