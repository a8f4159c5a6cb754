"""The examples that are written out: request bodies, answers that differ from what others say of
the same resource, streams and files."""

import json
from typing import Any

from apidocs.examples.special import BOB
from apidocs.examples.story import (
    ANSWER,
    CHAT,
    CLIP_LINK,
    GUIDE,
    ID,
    INSTRUCTIONS,
    OTHER_CHAT,
    PICTURE_PROMPT,
    QUESTION,
    REFRESH_TOKEN,
    USAGE,
    Like,
)

_PASSWORD = "correct horse battery staple"  # noqa: S105 - nobody's
_EMAIL = "alice@example.com"
_TOKEN = "o3Zk1yQvT8m2"  # noqa: S105 - of no invitation and no mail
IMAGE_MODEL, VIDEO_MODEL, ASSET_MODEL = "gpt-image-2.5-flare", "veo-3.1", "meshy-6"
_CLIP_PROMPT = "The light of a lighthouse sweeps over a calm sea."
_GOAL = "Write a guide to the tides for children."
_CLIP = {"seconds": 8, "aspect_ratio": "16:9", "resolution": "720p", "audio": False}

# By the component of the body, where it is not as its schema says.
REQUESTS: dict[str, Any] = {
    "AgentChanges": {"favourite": True, "reasoning_effort": "low"},
    "NamedAgentChanges": {"model": CHAT, "favourite": True},
    "AgentInput": {"model": CHAT, "favourite": True, "instructions": INSTRUCTIONS},
    "ApiKeyChanges": {"monthly_spend_cap_usd": 25},
    "ApiKeyInput": {"name": "laptop", "monthly_spend_cap_usd": 10, "features": ["tools"]},
    "AssetOrder": {"model": ASSET_MODEL, "stage": "preview", "prompt": "A brass compass."},
    "CardInput": {"model_key": "gemini-3.8-flash"},
    "CardRegenerationInput": {"instructions": "Shorter, please."},
    "ChangePassword": {"current_password": _PASSWORD, "new_password": "two tides make one day"},
    "ChatBody": {
        "model": CHAT,
        "messages": [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": QUESTION},
        ],
        "stream": False,
    },
    "ConnectorImport": {"file_id": "1BxiMVs0XRA5nFMdKvBd"},
    "ConnectorInput": {"code": "b1a2c3d4e5f6", "state": "Jx0c2l8qB5k"},
    "ConversationChanges": {"title": "Two tides a day", "pinned": True},
    "ConversationInput": {"model": CHAT, "space_id": ID["space"], "system": INSTRUCTIONS},
    "ConversationsDeletionInput": {"ids": [ID["conversation"]]},
    "CouncilDebateInput": {"rounds": 1, "focus": "Why are they not equally high?"},
    "CouncilMergeInput": {
        "mode": "guided",
        "card_ids": [ID["card"], ID["other_card"]],
        "model_key": OTHER_CHAT,
        "instructions": "Keep the table of the second answer.",
    },
    "CouncilMessageInput": {"content": "And why are they not equally high?"},
    "CouncilSessionChanges": {"title": "Two tides a day"},
    "CouncilSessionInput": {"models": [CHAT, OTHER_CHAT], "prompt": QUESTION},
    "EmbeddingsBody": {"model": "text-embedding-3-small", "input": [QUESTION, ANSWER]},
    "GoogleSignIn": {"id_token": "eyJhbGciOiJSUzI1NiJ9.eyJlbWFpbCI6ImFsaWNlIn0.c2lnbmF0dXJl"},
    "ImageOrder": {
        "model": IMAGE_MODEL,
        "prompt": PICTURE_PROMPT,
        "n": 1,
        "size": "1024x1024",
        "quality": "standard",
    },
    "ImagesBody": {"model": IMAGE_MODEL, "prompt": PICTURE_PROMPT, "size": "1024x1024"},
    "MessageFeedbackInput": {"rating": "up", "comment": "Short and right."},
    "MessageInput": {"content": QUESTION, "model": CHAT, "id": "tides-question-01"},
    "ProfileChanges": {"name": "Alice", "locale": "en", "timezone": "Europe/Berlin"},
    "ProjectApplyInput": {
        "target": "branch",
        "branch": "guide-to-tides",
        "message": "Add a guide to the tides",
        "files": ["guide/tides.md"],
        "pull_request": True,
    },
    "ProjectDiscardInput": {"files": ["guide/tides.md"]},
    "ProjectEstimateInput": {"prompt": _GOAL, "models": [CHAT, OTHER_CHAT], "max_subtasks": 6},
    "ProjectMessageInput": {"content": "Mention neap tides, too."},
    "ProjectPlanChanges": {
        "add": [
            {
                "key": "neap-tides",
                "title": "Neap tides",
                "instructions": "Explain neap tides.",
                "depends_on": ["causes"],
            }
        ],
        "change": [{"key": "table", "instructions": "Add a table of one week."}],
        "order": ["causes", "neap-tides", "table"],
    },
    "ProjectReassignInput": {"subtask_id": ID["subtask"], "model_key": OTHER_CHAT},
    "ProjectReplaceInput": {
        "subtask_id": ID["subtask"],
        "content": GUIDE,
        "files": [{"path": "guide/tides.md", "op": "create", "content": GUIDE}],
    },
    "ProjectResolveInput": {
        "files": [{"path": "guide/tides.md", "base_sha": "0123abcd" * 5, "content": GUIDE}]
    },
    "ProjectSessionChanges": {"title": "Guide to the tides", "budget_usd": 10},
    "ProjectSessionInput": {
        "title": "Guide to the tides",
        "prompt": _GOAL,
        "models": [CHAT, OTHER_CHAT],
        "workspace_id": ID["workspace"],
        "repo": "alice/tides",
        "max_subtasks": 6,
        "max_parallel": 2,
        "budget_usd": 5,
    },
    "RefreshInput": {"refresh_token": REFRESH_TOKEN},
    "ReplyInput": {"model": OTHER_CHAT},
    "ResetPassword": {"token": _TOKEN, "password": _PASSWORD},
    "ResetToken": {"token": _TOKEN},
    "SignIn": {"email": _EMAIL, "password": _PASSWORD},
    "SignUp": {"email": _EMAIL, "password": _PASSWORD, "name": "Alice"},
    "SpaceChanges": {"instructions": INSTRUCTIONS},
    "NamedSpaceChanges": {"id": ID["space"], "instructions": INSTRUCTIONS},
    "SpaceInput": {"name": "Sea", "instructions": INSTRUCTIONS},
    "StarInput": {"starred": True, "output": 0},
    "TeamChanges": {"name": "Harbour"},
    "TeamInput": {"name": "Harbour"},
    "TeamInviteInput": {"email": "bob@example.com", "role": "member"},
    "TeamMemberChanges": {"role": "admin"},
    "TeamTransferInput": {"member_id": ID["bob"]},
    "TranscribeInput": {"file": "RIFF....WAVEfmt ", "model": "gpt-transcribe", "language": "en"},
    "UploadInput": {"file": "day,high,low\n2026-11-25,04:12,10:31\n"},
    "VerifyEmail": {"token": _TOKEN},
    "VideoExtension": {"prompt": "A boat comes into view.", "seconds": 7},
    "VideoOrder": {"model": VIDEO_MODEL, "prompt": _CLIP_PROMPT, **_CLIP},
    "WorkspaceChanges": {"name": "alice at GitHub"},
    "WorkspaceInput": {"connector_id": ID["connector"], "name": "alice at GitHub"},
}

QUEUED = {
    "status": "queued",
    "queue_position": 2,
    "progress": None,
    "outputs": [],
    "thumbnail_url": None,
    "total_seconds": None,
    "cost_usd": None,
    "hold_usd": 0.023,
    "started_at": None,
    "completed_at": None,
}
NEW_RUN = {
    "status": "queued",
    "phase": "planning",
    "activity": "Waits for its turn.",
    "progress": {"done": 0, "total": 0},
    "cost_usd": 0,
    "in_flight": 0,
    "started_at": None,
}
_DELETED = QUEUED | {"status": "running", "queue_position": None, "prompt": "", "params": {}}
_QUEUED_CLIP = QUEUED | {"hold_usd": 1.6}
_CLIP_FILE = Like(
    "JobOutput", url=CLIP_LINK, media_type="video/mp4", seconds=8, width=1280, height=720
)
_CLIP_JOB = Like(
    "Job",
    id=ID["video_job"],
    kind="video",
    model=VIDEO_MODEL,
    prompt=_CLIP_PROMPT,
    params=_CLIP,
    cost_usd=1.6,
    outputs=[_CLIP_FILE],
)
_ASSET_JOB = Like(
    "Job",
    id=ID["asset_job"],
    kind="3d",
    model=ASSET_MODEL,
    prompt="A brass compass.",
    params={"stage": "preview"},
    cost_usd=0.4,
    outputs=[Like("JobOutput", media_type="model/gltf-binary", width=None, height=None)],
)
_RUNNING = {"status": "running", "finish_reason": None}
_RUNNING_CARD = Like("Card", **_RUNNING, usage=None, cost_usd=0, content="")

_RUNNING_CARDS = [_RUNNING_CARD, Like(_RUNNING_CARD, id=ID["other_card"], model=OTHER_CHAT)]

# By operation: answers that are not as those of other operations with the same resource.
OWN: dict[str, Any] = {
    "getAsset": _ASSET_JOB,
    "listAssets": [_ASSET_JOB],
    "listVideos": [_CLIP_JOB],
    "listTransactions": [
        Like(
            "Transaction",
            id=ID["other_transaction"],
            kind="charge",
            amount_usd=-0.023,
            balance_after_usd=19.977,
            allowance_usd=None,
            description="gpt-image-2.5-flare",
            charge_id=ID["charge"],
        ),
        Like("Transaction", allowance_usd=None),
    ],
    "orderAsset": Like(_ASSET_JOB, **QUEUED),
    "orderImages": Like("Job", **QUEUED),
    "orderVideo": Like(_CLIP_JOB, **_QUEUED_CLIP),
    "extendVideo": Like(
        _CLIP_JOB, **_QUEUED_CLIP, id=ID["next_job"], parent_job_id=ID["video_job"]
    ),
    "retryJob": Like("Job", **QUEUED, id=ID["next_job"]),
    "cancelJob": Like(
        "Job", **QUEUED | {"status": "cancelled", "hold_usd": None, "queue_position": None}
    ),
    "deleteAsset": Like(_ASSET_JOB, **_DELETED),
    "deleteImage": Like("Job", **_DELETED),
    "deleteVideo": Like(_CLIP_JOB, **_DELETED),
    "starAsset": Like(_ASSET_JOB, starred=True),
    "starImage": Like("Job", starred=True),
    "starVideo": Like(_CLIP_JOB, starred=True),
    "estimateAsset": Like("JobEstimate", model=ASSET_MODEL, params={"stage": "preview"}),
    "estimateVideo": Like("JobEstimate", model=VIDEO_MODEL, params=_CLIP),
    "stopReply": Like("Message", status="cancelled", finish_reason=None),
    "addCard": Like(_RUNNING_CARD, model="gemini-3.8-flash"),
    "regenerateCard": Like(_RUNNING_CARD, current_version=2, source="regenerate"),
    "mergeCards": Like(_RUNNING_CARD, kind="merge", source="merge", model=OTHER_CHAT),
    "stopCard": Like("Card", status="cancelled", finish_reason=None),
    "startCouncil": Like(
        "CouncilSession", status="running", activity="answering", cost_usd=0, cards=_RUNNING_CARDS
    ),
    "listEvents": [Like("Event")],
    "listCouncilEvents": [
        Like(
            "Event",
            type="card.delta",
            session_id=ID["council"],
            actor=f"model:{CHAT}",
            data={"card_id": ID["card"], "version": 1, "offset": 0, "text": "Because the moon"},
        )
    ],
    "listRunEvents": [
        Like(
            "Event",
            type="subtask.delta",
            session_id=ID["run"],
            actor=f"model:{CHAT}",
            data={"subtask_id": ID["subtask"], "attempt": 1, "offset": 0, "text": "# Tides"},
        )
    ],
    "startRun": Like(
        "ProjectSession", **NEW_RUN, plan=None, subtasks=[], deliverables=[], messages=[]
    ),
    "changeMemberRole": Like(BOB, role="admin"),
    "requestDataExport": Like(
        "DataExport", status="queued", size=None, url=None, ended_at=None, expires_at=None
    ),
    "createConversation": Like("Conversation", title="", active_leaf_id=None),
    "resendVerificationEmail": {
        "detail": "If your address is not verified yet, a mail is on its way."
    },
}


def _frames(*parts: dict[str, Any] | str) -> str:
    """Server-sent events. The id of each says how much of the text has come by then."""
    frames, place = [], 0
    for part in parts:
        place += len(part.get("delta", "")) if isinstance(part, dict) else 0
        data = part if isinstance(part, str) else json.dumps(part, separators=(",", ":"))
        frames.append(f"id: {place}\ndata: {data}\n\n")
    return "".join(frames)


_HALF = ANSWER.index("and the earth")
_PLACE = {"conversation_id": ID["conversation"], "user_message_id": ID["message"], "model": CHAT}
STREAM = _frames(
    {"type": "start", "messageId": ID["reply"], "messageMetadata": {**_PLACE, "context": None}},
    {"type": "text-start", "id": "1"},
    {"type": "text-delta", "id": "1", "delta": ANSWER[:_HALF]},
    {"type": "text-delta", "id": "1", "delta": ANSWER[_HALF:]},
    {"type": "text-end", "id": "1"},
    {
        "type": "finish",
        "finishReason": "stop",
        "usage": USAGE,
        "messageMetadata": {"status": "completed", "usage": USAGE},
    },
    "[DONE]",
)

_CHAT = f"# Two tides a day\n\n## Question\n\n{QUESTION}\n\n## {CHAT}\n\n{ANSWER}\n"

# By media type, or by operation and media type. Of binary files it is how they begin.
FILES: dict[str, str] = {
    "*/*": "day,high,low\n2026-11-25,04:12,10:31\n",
    "application/zip": "PK\x03\x04",
    "image/jpeg": "\u00ff\u00d8\u00ff\u00e0",
    "image/png": "\u0089PNG\r\n\x1a\n",
    "image/webp": "RIFF$\x00\x00\x00WEBPVP8 ",
    "model/gltf-binary": "glTF\x02\x00\x00\x00",
    "text/csv": f"day,key,model,requests,usd\n2026-11-25,{ID['key']},{CHAT},12,0.42\n",
    "text/plain": f"{QUESTION}\n\n{ANSWER}\n",
    "video/mp4": "\x00\x00\x00\x18ftypmp42",
    "exportConversation text/markdown": _CHAT,
    "exportCard text/markdown": _CHAT,
    "exportRun text/markdown": f"# Guide to the tides\n\n{_GOAL}\n\n## Tides\n\n{ANSWER}\n",
    "downloadDeliverable text/markdown": GUIDE,
}
