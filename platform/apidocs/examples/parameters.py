"""Values of parameters in paths, queries and headers."""

from typing import Any

from apidocs.examples.story import ID

# Parameters by their names, or by operation and name.
PARAMETERS: dict[str, Any] = {
    "Idempotency-Key": "tides-7f3a2c",
    "x-retry-of": "req_5b1f0c2e9a7d4e3f8c6b1a0d9e8f7c6b",
    "Last-Event-ID": 32,
    "Range": "bytes=0-1023",
    "after_seq": 41,
    "against": ID["other_card"],
    "branch": "active",
    "confirm": True,
    "code": "b1a2c3d4e5f6",
    "error": "access_denied",
    "expires": 1_795_687_200,
    "from": "2026-11-01",
    "key": ID["key"],
    "limit": 20,
    "q": "tides",
    "return_to": "https://example.com/settings/connectors",
    "signature": "Zm9vYmFy",
    "stage": "preview",
    "starred": True,
    "state": "Jx0c2l8qB5k",
    "to": "2026-11-30",
    "token": "o3Zk1yQvT8m2",
    "downloadFile.name": "lighthouse.png",
    "listAssets.model": "meshy-6",
    "listCardVersions.before": 2,
    "listConnectorFiles.page": "next-page-token",
    "listImages.model": "gpt-image-2.5-flare",
    "listMessages.after": ID["message"],
    "listRunFiles.after": "README.md",
    "listVideos.model": "veo-3.1",
}

# Whose id a parameter is, by the beginning of the path. `before` is the last one of a page.
PATHS: dict[str, dict[str, str]] = {
    "/api/assets-3d": {"job_id": "asset_job", "before": "asset_job"},
    "/api/auth/sessions": {"before": "session"},
    "/api/billing": {"before": "transaction"},
    "/api/cms": {"before": "entry"},
    "/api/connectors": {"before": "connector"},
    "/api/conversations/{conversation_id}/messages": {"message_id": "reply", "before": "reply"},
    "/api/conversations": {"before": "conversation"},
    "/api/council": {"session_id": "council", "before": "council"},
    "/api/images": {"job_id": "image_job", "before": "image_job"},
    "/api/jobs": {"job_id": "image_job", "before": "image_job"},
    "/api/keys": {"before": "key"},
    "/api/project/sessions": {"session_id": "run", "before": "run"},
    "/api/project/workspaces": {"before": "workspace"},
    "/api/spaces": {"before": "space"},
    "/api/teams/me/audit": {"before": "audit"},
    "/api/teams/me/members": {"member_id": "bob"},
    "/api/teams": {"before": "invite"},
    "/api/uploads": {"before": "upload"},
    "/api/users": {"before": "charge"},
    "/api/videos": {"job_id": "video_job", "before": "video_job"},
}
