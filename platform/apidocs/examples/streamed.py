"""Values of fields of what is streamed, where the name of the field does not say enough, by
component and field.

What the type of an event says of its data, such as the status of what has failed, is told by its
declaration (`EventType.example`), and goes above these.
"""

from typing import Any

from apidocs.examples.bodies import NEW_RUN, QUEUED
from apidocs.examples.special import BOB
from apidocs.examples.story import AT, CHAT, FAILURE, GUIDE, ID, OTHER_CHAT, SOON, Like

_FOCUS = "Why are they not equally high?"
_UNANSWERED = {"finish_reason": None, "usage": None, "cost_usd": 0}
_RUN = "ProjectSessionInEvent"
_ENDED_RUN = Like(_RUN, in_flight=0, ended_at=SOON)
_MERGE = Like("CardInEvent", kind="merge", source="merge", model=OTHER_CHAT)
_SOURCES = [
    Like("MergeSource"),
    Like("MergeSource", card_id=ID["other_card"], label="B"),
]
_POSITIONS = [
    Like("DebatePosition"),
    Like("DebatePosition", card_id=ID["other_card"], label="B", changed=False),
]
_UNTRIED = Like(
    "ProjectSubtaskInEvent", attempt=None, attempts=[], usage=None, cost_usd=0, status="queued"
)
_RUNNING_ATTEMPT = Like(
    "ProjectAttempt", status="running", summary="", verdict=None, cost_usd=0, ended_at=None
)
_FAILED_ATTEMPT = Like(_RUNNING_ATTEMPT, status="failed", error={}, ended_at=SOON)
_REVISED = [
    Like("ProjectAttempt", verdict="revise"),
    Like(_RUNNING_ATTEMPT, number=2, reason="revision"),
]
_UNFINISHED_JOB = Like("Job", **QUEUED | {"queue_position": None, "progress": 40, "started_at": AT})
_FAILED_JOB = Like(_UNFINISHED_JOB, progress=None, hold_usd=None, completed_at=SOON)

_COUNCILS = {
    "CardCreated.cost_usd": 0,
    "CardCreated.finish_reason": None,
    "CardCreated.status": "queued",
    "CardCreated.usage": None,
    "CouncilCardCancelledData.card": Like("CardInEvent", finish_reason=None),
    "CouncilCardDeltaData.text": "Because the moon",
    "CouncilCardFailedData.card": Like("CardInEvent", **_UNANSWERED),
    "CouncilCardRestoredData.card": Like("CardInEvent", current_version=3),
    "CouncilCardStartedData.card": Like("CardInEvent", **_UNANSWERED),
    "CouncilCardUpdatedData.card": Like(
        "CardInEvent", **_UNANSWERED, status="running", model=OTHER_CHAT
    ),
    "CouncilCardVersionCreatedData.card": Like(
        "CardInEvent", **_UNANSWERED, status="queued", source="regenerate", current_version=2
    ),
    "CouncilCardVersionCreatedData.version": Like(
        "CardVersionInEvent", version=2, status="queued", source="regenerate", finish_reason=None
    ),
    "CouncilDebateCompletedData.positions": _POSITIONS,
    "CouncilDebateRoundCompletedData.positions": _POSITIONS,
    "CouncilDebateStartedData.focus": _FOCUS,
    "CouncilDebateStartedData.participants": [
        Like("CardLabel"),
        Like("CardLabel", card_id=ID["other_card"], label="B"),
    ],
    "CouncilMergeCompletedData.card": _MERGE,
    "CouncilMergeStartedData.card": Like(_MERGE, **_UNANSWERED, status="queued"),
    "CouncilMergeStartedData.label_map": {"A": ID["card"], "B": ID["other_card"]},
    "CouncilMergeStartedData.sources": _SOURCES,
    "CouncilMessageCompletedData.version": 2,
    "CouncilSessionCreated.activity": "answering",
    "CouncilSessionCreated.status": "running",
    "CouncilSessionUpdatedData.session": Like(
        "CouncilSessionInEvent", status="running", activity="answering"
    ),
    "DebatePosition.version": 2,
}
_RUNS = {
    **{f"ProjectSessionCreated.{field}": value for field, value in NEW_RUN.items()},
    "ProjectChangesDiscardedData.paths": ["guide/tides.md"],
    "ProjectDeliverableUpdatedData.deliverable": Like("ProjectDeliverable", version=2),
    "ProjectErrorData.retryable": True,
    "ProjectErrorData.numbers": [1],
    "ProjectFileInEvent.bytes": len(GUIDE.encode()),
    "ProjectFinalDeltaData.text": "# Tides",
    "ProjectMessageCreatedData.message": Like("ProjectMessage", status="waiting"),
    "ProjectMessageDeliveredData.numbers": [1],
    "ProjectMessageReturnedData.messages": [Like("ProjectMessage", status="returned")],
    "ProjectReviewCompletedData.issues": [],
    "ProjectRunCancelledData.session": Like(_ENDED_RUN, activity="Cancelled."),
    "ProjectRunCompletedData.session": Like(
        _ENDED_RUN, activity="Completed.", phase="finalizing", progress={"done": 2, "total": 2}
    ),
    "ProjectRunPausedData.session": Like(_RUN, activity="Paused.", in_flight=0),
    "ProjectRunPhaseData.phase": "executing",
    "ProjectRunRecoveredData.step": "work",
    "ProjectRunRetryingData.step": "review",
    "ProjectRunRetryingData.from_model": CHAT,
    "ProjectRunRetryingData.to_model": "claude-haiku-5-5",
    "ProjectRunStartedData.session": Like(
        _RUN, **NEW_RUN | {"activity": "Planning.", "in_flight": 1, "started_at": AT}
    ),
    "ProjectSubtaskCancelledData.subtask": _UNTRIED,
    "ProjectSubtaskCreatedData.subtask": _UNTRIED,
    "ProjectSubtaskDeltaData.text": "# Tides",
    "ProjectSubtaskFailedData.subtask": Like(_UNTRIED, attempts=[_FAILED_ATTEMPT], error={}),
    "ProjectSubtaskReassignedData.from_model": CHAT,
    "ProjectSubtaskReassignedData.subtask": Like(_UNTRIED, model=OTHER_CHAT, assigned_by="user"),
    "ProjectSubtaskReassignedData.to_model": OTHER_CHAT,
    "ProjectSubtaskRetryingData.reason": "revision",
    "ProjectSubtaskRetryingData.subtask": Like("ProjectSubtaskInEvent", attempts=_REVISED),
    "ProjectSubtaskSkippedData.subtask": _UNTRIED,
    "ProjectSubtaskStartedData.subtask": Like(_UNTRIED, attempts=[_RUNNING_ATTEMPT]),
}
_USERS = {
    "JobError.retryable": True,
    "UserConversationCreatedData.conversation": Like(
        "ConversationInEvent", title="", active_leaf_id=None
    ),
    "UserConversationRepliedData.message_id": ID["reply"],
    "UserCouncilCreatedData.council": Like(
        "CouncilSessionRow", status="running", activity="answering", cost_usd=0
    ),
    "UserExportCreatedData.export": Like(
        "DataExportInEvent", status="queued", size=None, ended_at=None, expires_at=None
    ),
    "UserExportFailedData.export": Like("DataExportInEvent", size=None, expires_at=None),
    "UserJobCancelledData.job": Like(_FAILED_JOB, started_at=None),
    "UserJobCreatedData.job": Like("Job", **QUEUED),
    "UserJobDeletedData.job_id": ID["image_job"],
    "UserJobFailedData.job": _FAILED_JOB,
    "UserJobUpdatedData.job": _UNFINISHED_JOB,
    "UserProjectCreatedData.project": Like(
        "ProjectSessionRow",
        status="queued",
        phase="planning",
        progress={"done": 0, "total": 0},
        cost_usd=0,
    ),
    "UserProjectDeletedData.project_id": ID["run"],
    "UserTeamMemberJoinedData.member": BOB,
    "UserTeamMemberLeftData.member_id": ID["bob"],
    "UserTeamMemberUpdatedData.member": Like(BOB, role="admin"),
}
_REPLIES = {
    "FrameDataTitleData.id": "title",
    "FrameErrorData.errorText": FAILURE,
    "FrameReasoningDeltaData.delta": "Two bulges",
    "FrameStartData.messageId": ID["reply"],
    "FrameTextDeltaData.delta": "Because",
    "ReplyStart.user_message_id": ID["message"],
}

STREAMED: dict[str, Any] = {**_COUNCILS, **_RUNS, **_USERS, **_REPLIES}
