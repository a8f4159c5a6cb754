"""/api/project/workspaces: accounts at GitHub and GitLab."""

import json
import socket
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from billing.tests.web_app import client_of
from events.models import Event
from integrations.githosts.tests.hosted import FILES, Hosted
from integrations.githosts.types import HostKind
from integrations.workspaces.models import Workspace
from integrations.workspaces.request_serializers import WorkspaceInputSerializer
from integrations.workspaces.types import MAX_WORKSPACES
from simulator.process import RunningSimulator
from tests.personas import new_user

WORKSPACES = "/api/project/workspaces"
# A request gives its connection back before it calls a host: nothing can be rolled back.
pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(params=list(HostKind))
def hosted(request: pytest.FixtureRequest, simulator: RunningSimulator) -> Hosted:
    return Hosted.create(simulator, HostKind(request.param))


@pytest.fixture
def github(simulator: RunningSimulator) -> Hosted:
    return Hosted.create(simulator, HostKind.GITHUB)


class Developer:
    """Somebody on the Pro plan, whose workspaces lead to a repository of theirs."""

    def __init__(self, name: str = "alice", plan: str = "pro") -> None:
        self.user = new_user(name, plan=plan)
        self.client = client_of(self.user)

    def connect(self, hosted: Hosted, **body: Any) -> Any:
        usual = {"provider": hosted.kind, "base_url": hosted.base_url, "token": hosted.token}
        return self.client.post(WORKSPACES, {**usual, **body}, format="json")

    def connected(self, hosted: Hosted) -> str:
        return str(self.connect(hosted).json()["id"])

    def get(self, path: str) -> Any:
        return self.client.get(f"{WORKSPACES}{path}")

    def change(self, workspace_id: str, **body: Any) -> Any:
        return self.client.patch(f"{WORKSPACES}/{workspace_id}", body, format="json")

    def events(self) -> list[str]:
        """The types of the events of the user's own stream."""
        rows = Event.objects.filter(stream_id=self.user.pk).order_by("seq")
        return list(rows.values_list("type", flat=True))


@pytest.fixture
def alice_pro() -> Developer:
    return Developer()


# --- Connecting -----------------------------------------------------------------------------------


def test_an_account_is_connected_with_a_token(alice_pro: Developer, hosted: Hosted) -> None:
    answer = alice_pro.connect(hosted, name=" My  site ")

    assert answer.status_code == 201
    workspace = answer.json()
    assert {name: workspace[name] for name in workspace if name not in ("id", "checked_at")} == {
        "provider": hosted.kind,
        "base_url": hosted.base_url,
        "connector_id": None,
        "name": "My site",
        "login": hosted.login,
        "status": "connected",
        "scopes": ["repo", "workflow", "api"],
        "expires_at": None,
        "created_at": workspace["created_at"],
    }
    assert alice_pro.get("").json() == [workspace]
    assert alice_pro.get(f"/{workspace['id']}").json() == workspace
    assert alice_pro.events()[-1] == "workspace.created"


def test_without_a_name_it_has_that_of_the_account(alice_pro: Developer, github: Hosted) -> None:
    assert alice_pro.connect(github).json()["name"] == github.login


def test_the_token_is_stored_encrypted_and_never_shown(
    alice_pro: Developer, github: Hosted, caplog: pytest.LogCaptureFixture
) -> None:
    answer = alice_pro.connect(github)
    row = Workspace.objects.get(pk=answer.json()["id"])
    shown = [answer.content.decode(), repr(vars(row)), caplog.text, alice_pro.get("").content]
    assert not any(github.token in str(each) for each in shown)
    assert row.token


def test_the_end_of_a_token_is_told(alice_pro: Developer, hosted: Hosted) -> None:
    token = hosted.add_token(f"short-{hosted.login}", expires_at="2099-01-31T00:00:00Z")
    assert alice_pro.connect(hosted, token=token).json()["expires_at"][:10] == "2099-01-31"


@pytest.mark.parametrize("name", ["https://github.com", "https://github.com/", "", None])
def test_the_cloud_needs_no_address(name: str | None) -> None:
    asked = WorkspaceInputSerializer(data={"provider": "github", "token": "x", "base_url": name})
    assert asked.is_valid()
    assert asked.validated_data["base_url"] == ""


# --- What cannot be connected ---------------------------------------------------------------------


def refused(answer: Any, field: str) -> str:
    """The message of a 422 about that field."""
    assert answer.status_code == 422, answer.content
    [error] = answer.json()["errors"]
    assert error["loc"] == [field]
    return str(error["msg"])


@pytest.mark.parametrize("state", ["unknown", "revoked", "expired"])
def test_a_dead_token_is_refused(alice_pro: Developer, hosted: Hosted, state: str) -> None:
    token = f"{state}-{hosted.login}"
    if state == "expired":
        hosted.add_token(token, expires_at="2020-01-01T00:00:00Z")
    if state == "revoked":
        hosted.control.revoke_token(hosted.add_token(token))
    assert "does not accept" in refused(alice_pro.connect(hosted, token=token), "token")
    assert not Workspace.objects.filter(account=alice_pro.user).exists()


def test_a_token_without_the_scope_is_refused(alice_pro: Developer, hosted: Hosted) -> None:
    token = hosted.add_token(f"reader-{hosted.login}", scopes=["read_api", "read:org"])
    scope = "repo" if hosted.kind == HostKind.GITHUB else "api"
    assert f"lacks the scope {scope}" in refused(alice_pro.connect(hosted, token=token), "token")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"provider": "svn"}, "provider"),
        ({"provider": None}, "provider"),
        ({"token": ""}, "token"),
        ({"token": "a b"}, "token"),
        ({"token": "a\nX-Header: b"}, "token"),
        ({"token": "ü"}, "token"),
        ({"token": "x" * 3_000}, "token"),
        ({"token": 7}, "token"),
        ({"name": "x" * 200}, "name"),
        ({"base_url": "gitlab.example.com"}, "base_url"),
        ({"base_url": "ftp://example.com"}, "base_url"),
        ({"base_url": "https://alice:secret@example.com"}, "base_url"),
        ({"base_url": "https://example.com/?x=1"}, "base_url"),
        ({"base_url": "https://example.com/#x"}, "base_url"),
        ({"base_url": "https://" + "x" * 3_000}, "base_url"),
        ({"base_url": 7}, "base_url"),
    ],
)
def test_a_body_that_will_not_do_is_422(
    alice_pro: Developer, github: Hosted, body: dict[str, Any], field: str
) -> None:
    refused(alice_pro.connect(github, **body), field)


REFUSED = "not an address that can be called"
INSIDE = [
    "https://127.0.0.1",
    "http://127.0.0.1:6379",
    "http://localhost",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://169.254.169.254/latest",
    "https://2130706433",
    "https://10.0.0.1",
]


@pytest.mark.parametrize("url", INSIDE)
def test_an_address_inside_is_not_called(
    alice_pro: Developer, github: Hosted, settings: Settings, url: str
) -> None:
    settings.OUTBOUND_ALLOWED = []
    assert REFUSED in refused(alice_pro.connect(github, base_url=url), "base_url")


def test_a_name_that_leads_inside_is_not_called(
    alice_pro: Developer, github: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not when the resolver changes its mind after the first call."""
    answers = ["10.0.0.7"]

    def resolve(host: str, port: int, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers[0], port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    port = github.base_url.split(":")[2].partition("/")[0]
    url = f"http://rebinding.example.com:{port}/github"
    assert REFUSED in refused(alice_pro.connect(github, base_url=url), "base_url")
    answers[0] = "127.0.0.1"
    workspace_id = alice_pro.connect(github, base_url=url).json()["id"]
    assert alice_pro.get(f"/{workspace_id}/repos").status_code == 200
    answers[0] = "10.0.0.7"
    answer = alice_pro.get(f"/{workspace_id}/repos")
    assert REFUSED in refused(answer, "base_url")


@pytest.mark.parametrize(
    "fault", [{"status": 500}, {"html": True}, {"drop": True}, {"truncate": True}]
)
def test_a_host_that_fails_is_a_502(
    alice_pro: Developer, hosted: Hosted, fault: dict[str, Any]
) -> None:
    hosted.fail_for_all("get_user", **fault)
    answer = alice_pro.connect(hosted)
    assert (answer.status_code, answer.json()["code"]) == (502, "git_host_unavailable")
    hosted.control.stop_failing()


def test_a_host_that_is_not_there_is_a_502(alice_pro: Developer, github: Hosted) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    answer = alice_pro.connect(github, base_url=f"http://127.0.0.1:{port}")
    assert (answer.status_code, answer.json()["code"]) == (502, "git_host_unavailable")


def test_a_host_that_wants_fewer_calls_is_a_429(alice_pro: Developer, hosted: Hosted) -> None:
    hosted.fail_for_all("get_user", rate_limited=42)
    answer = alice_pro.connect(hosted)
    assert (answer.status_code, answer.json()["code"]) == (429, "git_host_rate_limited")
    assert answer["Retry-After"] == "42"


def test_workspaces_need_the_pro_plan(github: Hosted) -> None:
    answer = Developer(plan="starter").connect(github)
    assert answer.status_code == 402
    assert answer.json()["detail"]["code"] == "feature_required"
    assert answer.json()["detail"]["feature"] == "workspaces"


def test_there_are_only_so_many(alice_pro: Developer, github: Hosted) -> None:
    Workspace.objects.bulk_create(
        Workspace(account=alice_pro.user, provider="github", name=str(n), login="x", token="x")
        for n in range(MAX_WORKSPACES)
    )
    answer = alice_pro.connect(github)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_workspaces")


# --- Repositories ---------------------------------------------------------------------------------


def test_repositories_are_listed(alice_pro: Developer, hosted: Hosted) -> None:
    hosted.add("blog", files=FILES, private=False, archived=True)
    hosted.add("empty")
    answer = alice_pro.get(f"/{alice_pro.connected(hosted)}/repos")
    url = f"{hosted.base_url}/{hosted.login}"
    assert answer.json() == [
        {
            "name": f"{hosted.login}/empty",
            "url": f"{url}/empty",
            "default_branch": answer.json()[0]["default_branch"],
            "private": True,
            "archived": False,
            "can_write": True,
        },
        {
            "name": f"{hosted.login}/blog",
            "url": f"{url}/blog",
            "default_branch": "main",
            "private": False,
            "archived": True,
            "can_write": True,
        },
        {
            "name": hosted.repository,
            "url": f"{url}/site",
            "default_branch": "main",
            "private": True,
            "archived": False,
            "can_write": True,
        },
    ]
    assert "Link" not in answer


def test_repositories_are_searched(alice_pro: Developer, hosted: Hosted) -> None:
    hosted.add("blog", files=FILES)
    found = alice_pro.get(f"/{alice_pro.connected(hosted)}/repos?q=LOG").json()
    assert [each["name"] for each in found] == [f"{hosted.login}/blog"]


def test_a_page_of_repositories_leads_to_the_next(alice_pro: Developer, hosted: Hosted) -> None:
    for number in range(101):
        hosted.add(f"r{number}")
    answer = alice_pro.get(f"/{alice_pro.connected(hosted)}/repos")
    assert len(answer.json()) == 100
    link = answer["Link"].partition(">")[0].removeprefix("<")
    assert [each["name"] for each in alice_pro.client.get(link).json()][-1] == hosted.repository


@pytest.mark.parametrize("query", ["page=0", "page=x", "page=99999", f"q={'x' * 200}"])
def test_a_query_that_will_not_do_is_422(alice_pro: Developer, github: Hosted, query: str) -> None:
    answer = alice_pro.get(f"/{alice_pro.connected(github)}/repos?{query}")
    assert answer.status_code == 422


# --- Dead tokens ----------------------------------------------------------------------------------


def test_a_token_that_dies_makes_the_workspace_need_another(
    alice_pro: Developer, hosted: Hosted
) -> None:
    workspace_id = alice_pro.connected(hosted)
    hosted.control.revoke_token(hosted.token)

    answer = alice_pro.get(f"/{workspace_id}/repos")

    assert (answer.status_code, answer.json()["code"]) == (409, "workspace_needs_reauth")
    assert alice_pro.get(f"/{workspace_id}").json()["status"] == "needs_reauth"
    assert alice_pro.events()[-1] == "workspace.updated"


def test_a_workspace_with_a_dead_token_does_not_ask_the_host(
    alice_pro: Developer, hosted: Hosted
) -> None:
    workspace_id = alice_pro.connected(hosted)
    hosted.control.revoke_token(hosted.token)
    alice_pro.get(f"/{workspace_id}/repos")
    asked, told = len(hosted.control.requests()), len(alice_pro.events())
    assert alice_pro.get(f"/{workspace_id}/repos").status_code == 409
    assert (len(hosted.control.requests()), len(alice_pro.events())) == (asked, told)


def test_a_new_token_revives_it(alice_pro: Developer, hosted: Hosted) -> None:
    workspace_id = alice_pro.connected(hosted)
    hosted.control.revoke_token(hosted.token)
    alice_pro.get(f"/{workspace_id}/repos")
    answer = alice_pro.change(workspace_id, token=hosted.add_token(f"new-{hosted.login}"))
    assert (answer.status_code, answer.json()["status"]) == (200, "connected")
    assert alice_pro.get(f"/{workspace_id}/repos").status_code == 200


def test_a_workspace_whose_token_has_expired_needs_another(
    alice_pro: Developer, hosted: Hosted
) -> None:
    workspace_id = alice_pro.connected(hosted)
    Workspace.objects.filter(pk=workspace_id).update(expires_at="2020-01-01T00:00:00Z")
    assert alice_pro.get(f"/{workspace_id}").json()["status"] == "needs_reauth"
    assert alice_pro.get(f"/{workspace_id}/repos").status_code == 409


def test_a_token_that_no_key_reads_needs_another(
    alice_pro: Developer, github: Hosted, settings: Settings
) -> None:
    workspace_id = alice_pro.connected(github)
    settings.ENCRYPTION_KEYS = ["another key of more than 32 characters"]
    assert alice_pro.get(f"/{workspace_id}/repos").json()["code"] == "workspace_needs_reauth"
    assert alice_pro.get(f"/{workspace_id}").json()["status"] == "needs_reauth"


def test_a_token_of_somebody_else_is_refused(alice_pro: Developer, hosted: Hosted) -> None:
    workspace_id = alice_pro.connected(hosted)
    theirs = hosted.control.create_token(hosted.kind, f"bobs-{hosted.login}", login="bob")
    assert "token of bob" in refused(alice_pro.change(workspace_id, token=theirs), "token")


# --- Changing and disconnecting -------------------------------------------------------------------


def test_a_workspace_is_renamed(alice_pro: Developer, github: Hosted) -> None:
    workspace_id = alice_pro.connected(github)
    assert alice_pro.change(workspace_id, name="Work").json()["name"] == "Work"
    assert alice_pro.get(f"/{workspace_id}").json()["name"] == "Work"


def test_a_workspace_is_disconnected(alice_pro: Developer, github: Hosted) -> None:
    workspace_id = alice_pro.connected(github)
    assert alice_pro.client.delete(f"{WORKSPACES}/{workspace_id}").status_code == 204
    assert alice_pro.get(f"/{workspace_id}").status_code == 404
    assert alice_pro.get("").json() == []
    assert alice_pro.events()[-1] == "workspace.deleted"


ROUTES = [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/repos")]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_workspace_of_somebody_else_is_not_there(
    alice_pro: Developer, github: Hosted, method: str, path: str
) -> None:
    url = f"{WORKSPACES}/{alice_pro.connected(github)}{path}"
    bob = Developer("bob").client
    body = json.dumps({"name": "Mine"})
    theirs = bob.generic(method, url, body, content_type="application/json")
    nobodys = bob.generic(
        method, f"{WORKSPACES}/{uuid4()}{path}", body, content_type="application/json"
    )
    assert (theirs.status_code, theirs.content) == (404, nobodys.content)


def test_workspaces_need_a_session(visitor: Any) -> None:
    assert visitor.get(WORKSPACES).status_code == 401
    assert visitor.post(WORKSPACES, {}, format="json").status_code == 401
