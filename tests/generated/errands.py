"""What a request needs that no schema can tell: what is done before it, what its body says, and the
tokens that mails bring."""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlsplit
from uuid import UUID

import httpx

from accounts.models import UserSession
from accounts.services.passwords import request_reset
from accounts.services.verification import request_verification
from accounts.tests.mailbox import mailed_token
from media.files.models import Upload
from media.files.selectors.uploads import download_url
from projects.models import AttemptFile, FileMerge
from projects.tests.principal import part
from projects.types import MergeState
from teams.models import Member, Team
from teams.services import invitations
from teams.tests.people import add_owner, verify
from tests.generated.drawing import Operation
from tests.generated.resources import Ids
from tests.personas import PASSWORD, new_user

if TYPE_CHECKING:
    from tests.generated.person import Person

_TALK = "/api/conversations/{conversation_id}"
_MESSAGE = f"{_TALK}/messages/{{message_id}}"
_RUN = "/api/project/sessions/{session_id}"
_SUBTASK = f"{_RUN}/subtasks/{{subtask_id}}"
_TEAM = "/api/teams/me"
_REFUSED = '\n@sim {"fail": "before", "status": 400, "code": "content_policy_violation"}'
# Git's id of what somebody else has written.
_THEIRS = 40 * "a"
_LINK = re.compile(r'"(https?://[^"]*?/files/(?!uploads/)[^"]+)"')

# The operations that make a resource; the others are made by a POST above their own path.
MADE_BY = {
    _MESSAGE: [f"POST {_TALK}/messages", f"GET {_TALK}"],
    "/api/conversations/shared/{share_token}": [f"POST {_TALK}/share"],
    "/api/council/cards/{card_id}": ["POST /api/council/sessions"],
    _SUBTASK: ["POST /api/project/sessions", f"GET {_RUN}"],
    "/api/project/deliverables/{deliverable_id}": [f"GET {_RUN}"],
    "/api/assets-3d/assets/{job_id}": ["POST /api/assets-3d/generate"],
    "/api/jobs/{job_id}": ["POST /api/images"],
    f"{_TEAM}/members/{{member_id}}": [f"GET {_TEAM}"],
    f"{_TEAM}/invites/{{invite_id}}": [f"POST {_TEAM}/invites"],
}
# What is done before each request, to the same resource.
BEFORE = {
    f"POST {_TALK}/share": [f"POST {_TALK}/messages"],
    f"GET {_TALK}/share": [f"POST {_TALK}/share"],
    f"DELETE {_TALK}/share": [f"POST {_TALK}/share"],
    f"DELETE {_MESSAGE}/feedback": [f"PUT {_MESSAGE}/feedback"],
    "GET /api/users/me/export": ["POST /api/users/me/export"],
    f"POST {_TEAM}/invites": [f"POST {_TEAM}"],
    f"PATCH {_TEAM}": [f"POST {_TEAM}"],
    f"DELETE {_TEAM}": [f"POST {_TEAM}"],
    f"GET {_TEAM}/audit": [f"POST {_TEAM}"],
    f"GET {_TEAM}/invites": [f"POST {_TEAM}"],
    "POST /api/teams/invites/{token}/accept": [f"DELETE {_TEAM}", f"POST {_TEAM}/leave"],
}


def link_in(text: str) -> str:
    """The last link to a made file in an answer; empty where there is none."""
    found = _LINK.findall(text)
    return json.loads(f'"{found[-1]}"') if found else ""


def parameters_of(link: str, operation: Operation) -> tuple[Ids, dict[str, str]]:
    """The parameters of the path and of the query of a link."""
    parts = urlsplit(link)
    parameter = operation.path[operation.path.rindex("{") + 1 : -1]
    return {parameter: parts.path.rpartition("/")[-1]}, dict(parse_qsl(parts.query))


def _link_to_upload(alice: "Person") -> str:
    own = alice.own("/api/uploads/{upload_id}")
    return download_url(Upload(pk=UUID(own["upload_id"]))) if own else ""


def _consent(alice: "Person", _: Ids) -> dict[str, Any]:
    """What the page of a drive sends back, which she has consented on."""
    headers = {"Authorization": f"Bearer {alice.signed_in.access_token}"}
    address = f"{alice.web.url}/api/connectors/google_drive/authorize"
    page = httpx.get(address, headers=headers, timeout=30).json()["authorize_url"]
    back = alice.simulator.oauth.consent(page, login=alice.hosted.login)
    location = urlsplit(httpx.get(back, timeout=30).headers["Location"])
    return {name: values[0] for name, values in parse_qs(location.query).items()}


def _workspace(alice: "Person", _: Ids) -> dict[str, Any]:
    hosted = alice.hosted
    return {"provider": hosted.kind, "token": hosted.token, "base_url": hosted.base_url}


def _reviewed(alice: "Person") -> Ids:
    """A run whose plan waits for her."""
    body = {**_run(alice, {}), "approve_plan": True}
    run = alice.ask("POST", "/api/project/sessions", body)
    return {"session_id": alice.wait(f"/api/project/sessions/{run['id']}", "paused")["id"]}


def _written(alice: "Person") -> Ids:
    """A run whose files are written."""
    run = alice.ask("POST", "/api/project/sessions", _run(alice, {}))
    return {"session_id": alice.wait(f"/api/project/sessions/{run['id']}", "completed")["id"]}


def _in_conflict(alice: "Person") -> Ids:
    """A run one of whose files somebody else has changed, as an order has found."""
    ids = _written(alice)
    staged = AttemptFile.objects.get(attempt__subtask__run=UUID(ids["session_id"]), path="a.md")
    FileMerge.objects.create(file=staged, state=MergeState.CONFLICT, sha=_THEIRS, theirs="Theirs.")
    return ids


def _clip(alice: "Person") -> Ids:
    """A clip that is made."""
    job = alice.ask("POST", "/api/videos", {"model": "veo-3.1", "prompt": "A sea.", "seconds": 8})
    return {"job_id": alice.wait(f"/api/jobs/{job['id']}", "completed")["id"]}


def _failed_picture(alice: "Person") -> Ids:
    """A picture that its provider has refused to make."""
    body = {"model": "gpt-image-2.5-flare", "prompt": f"A lighthouse.{_REFUSED}"}
    job = alice.ask("POST", "/api/images", body)
    return {"job_id": alice.wait(f"/api/jobs/{job['id']}", "failed")["id"]}


def _run(alice: "Person", _: Ids) -> dict[str, Any]:
    """A run of two subtasks, which write a file each."""
    parts = [part("a", writes=["a.md"]), part("b", writes=["b.md"])]
    plan = json.dumps({"title": "Sea", "summary": "All of it.", "subtasks": parts})
    options = json.dumps({"step": "plan", "text": plan})
    return {
        "prompt": f"Write about the sea.\n@sim {options}",
        "budget_usd": 1,
        "repo": alice.hosted.repository,
        **alice.own("/api/project/workspaces/{workspace_id}"),
    }


def _google(alice: "Person", _: Ids) -> dict[str, Any]:
    claims = {"email": _new_address(alice), "email_verified": True}
    page = f"{alice.simulator.url}/identity/token"
    return {"id_token": httpx.post(page, json={"claims": claims}).json()["id_token"]}


def _invitation(alice: "Person") -> Ids:
    """Of a team of bob's, who invites her."""
    bob = verify(new_user("bob", plan="max"))
    add_owner(bob)
    invitations.invite(user=bob, address=alice.user.email, role="member")
    return {"token": mailed_token("/invitations", alice.user.email)}


def _member(alice: "Person") -> Ids:
    """Bob, who is in her team."""
    mine = Member.objects.filter(account=alice.user).first()
    team_id = mine.team_id if mine else add_owner(alice.user).pk
    bob = new_user("bob", plan="max")
    Member.objects.create(account=bob, team_id=team_id, role="member")
    return {"member_id": str(bob.pk)}


def _successor(alice: "Person", _: Ids) -> Ids:
    """Bob, who is in a team that she owns."""
    Team.objects.filter(pk__in=Member.objects.filter(account=alice.user).values("team")).delete()
    return _member(alice)


def _reset(alice: "Person", _: Ids) -> dict[str, Any]:
    bob = new_user("bob")
    request_reset(email=bob.email)
    return {"token": mailed_token("/reset-password", bob.email), "password": _new_password(alice)}


def _verification(alice: "Person", _: Ids) -> dict[str, Any]:
    """Of a new address, since each gets few mails, that is still to be verified."""
    alice.user.refresh_from_db()
    alice.user.email, alice.user.email_verified = _new_address(alice), False
    alice.user.save()
    request_verification(user=alice.user)
    return {"token": mailed_token("/verify-email", alice.user.email)}


def _change_password(alice: "Person", _: Ids) -> dict[str, Any]:
    old, alice.password = alice.password, _new_password(alice)
    return {"current_password": old, "new_password": alice.password}


def _picture(alice: "Person", _: Ids) -> dict[str, Any]:
    """Now and then one that its provider does not make."""
    fails = alice.random.random() < 0.3
    steering = (
        '\n@sim {"fail": "before", "status": 400, "code": "content_policy_violation"}'
        if fails
        else ""
    )
    return {"model": "gpt-image-2.5-flare", "prompt": f"A lighthouse.{steering}"}


def _merge(alice: "Person", _: Ids) -> dict[str, Any]:
    """Of all cards; those that a schema names are of another session."""
    return {"mode": alice.random.choice(["fuse", "compare"]), "model_key": "claude-sonnet-5-5"}


def _space(alice: "Person") -> Ids:
    return {"id": alice.own("/api/spaces/{space_id}").get("space_id", str(alice.user.pk))}


def _session(alice: "Person") -> Ids:
    return {"session_id": str(UserSession.objects.filter(account=alice.user).latest("pk").pk)}


def _new_address(alice: "Person") -> str:
    return f"new-{alice.random.getrandbits(64):x}@example.com"


def _new_password(alice: "Person") -> str:
    return f"{PASSWORD} {alice.random.getrandbits(32)}"


# What the bodies of these operations say; the ids are those of their paths.
BODIES: dict[str, Callable[["Person", Ids], dict[str, Any]]] = {
    "POST /api/auth/signup": lambda alice, _: {
        "email": _new_address(alice),
        "password": PASSWORD,
        "name": "Bob",
    },
    "POST /api/auth/login": lambda alice, _: {
        "email": alice.user.email,
        "password": alice.password,
    },
    "POST /api/auth/refresh": lambda alice, _: {"refresh_token": alice.signed_in.refresh_token},
    "POST /api/auth/google": _google,
    "POST /api/auth/change-password": _change_password,
    "POST /api/auth/reset-password": _reset,
    "POST /api/auth/verify-email": _verification,
    "POST /api/billing/upgrade": lambda alice, _: {
        "plan": alice.random.choice(["max", "advanced"])
    },
    "POST /api/connectors": _consent,
    "POST /api/connectors/{connector_id}/import": lambda alice, _: {"file_id": alice.file_id},
    "POST /api/council/sessions/{session_id}/merge": _merge,
    "POST /api/council/sessions/{session_id}/merge/estimate": _merge,
    "POST /api/images": _picture,
    "PATCH /api/spaces": lambda alice, _: {**_space(alice), "name": "Water"},
    "POST /api/project/workspaces": _workspace,
    "POST /api/videos/{job_id}/extend": lambda *_: {"prompt": "A boat.", "seconds": 7},
    "POST /api/videos/{job_id}/extend/estimate": lambda *_: {"prompt": "A boat.", "seconds": 7},
    "POST /api/project/sessions": _run,
    f"POST {_RUN}/changes/apply": lambda alice, _: {
        "target": "branch",
        "branch": f"sea-{alice.random.getrandbits(32)}",
        "message": "Write about the sea",
    },
    f"POST {_RUN}/changes/resolve": lambda *_: {
        "files": [{"path": "a.md", "base_sha": _THEIRS, "content": "Both."}]
    },
    f"POST {_RUN}/changes/discard": lambda *_: {"files": ["a.md"]},
    f"POST {_RUN}/replace": lambda alice, ids: {
        "subtask_id": alice.own(_SUBTASK, ids).get("subtask_id"),
        "content": "Mine.",
    },
    f"POST {_RUN}/control": lambda alice, _: {"action": alice.random.choice(["resume", "cancel"])},
    f"PATCH {_RUN}/plan": lambda *_: {"title": "The sea", "summary": "All of it."},
    f"POST {_TEAM}/invites": lambda alice, _: {"email": _new_address(alice), "role": "member"},
    f"POST {_TEAM}/transfer-ownership": _successor,
}
# What the query of these says.
QUERIES: dict[str, Callable[["Person"], Ids]] = {"DELETE /api/spaces": lambda alice: _space(alice)}
# The links to files, whose paths and queries belong together.
LINKS: dict[str, Callable[["Person"], str]] = {
    "/files/{name}": lambda alice: alice.link,
    "/files/uploads/{upload_id}": _link_to_upload,
}
# Whom or what the paths of these name.
IDS: dict[str, Callable[["Person"], Ids]] = {
    "/api/agents/{model}": lambda _: {"model": "gpt-6-luna"},
    "/v1/models/{model}": lambda _: {"model": "gpt-6-luna"},
    "/api/connectors/{provider}/authorize": lambda _: {"provider": "github"},
    "/api/connectors/{provider}/callback": lambda _: {"provider": "github"},
    "/api/teams/invites/{token}": _invitation,
    "/api/teams/invites/{token}/accept": _invitation,
    "/api/teams/invites/{token}/decline": _invitation,
    f"{_TEAM}/members/{{member_id}}": _member,
    "/api/auth/sessions/{session_id}": _session,
    f"{_RUN}/plan": _reviewed,
    f"{_RUN}/control": _reviewed,
    f"{_RUN}/message": _reviewed,
    f"{_RUN}/changes/apply": _written,
    f"{_RUN}/changes/resolve": _in_conflict,
    "/api/jobs/{job_id}/retry": _failed_picture,
    "/api/videos/{job_id}/extend": _clip,
    "/api/videos/{job_id}/extend/estimate": _clip,
    "/api/files/{message_id}": lambda alice: alice.own(_MESSAGE),
}
