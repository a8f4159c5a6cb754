"""/api/project/workspaces with `connector_id`: workspaces that stand on a connector."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import Settings

from billing.services import balance
from devserver.configuration import simulated_connectors
from integrations.connectors.models import Connector
from integrations.connectors.providers import from_environ
from integrations.connectors.tests.owner import SERVERS, Owner
from integrations.connectors.types import Provider
from integrations.githosts.tests.hosted import Hosted
from integrations.githosts.types import HostKind
from integrations.workspaces.models import Workspace
from integrations.workspaces.services.checkouts import check_out, read_files
from integrations.workspaces.types import MAX_WORKSPACES
from simulator.process import RunningSimulator

WORKSPACES = "/api/project/workspaces"


@pytest.fixture(autouse=True)
def configured(committed: None, settings: Settings, simulator: RunningSimulator) -> None:
    settings.CONNECTORS = from_environ(simulated_connectors(simulator.url))


@pytest.fixture
def alice(simulator: RunningSimulator) -> Owner:
    return Owner("alice", simulator)


@pytest.fixture(params=list(HostKind))
def hosted(request: pytest.FixtureRequest, simulator: RunningSimulator, alice: Owner) -> Hosted:
    """A repository of alice's."""
    made = Hosted(simulator.githost, HostKind(request.param), login=alice.login)
    made.clone_url = made.add("site", files={"README.md": "# Site\n", "a.txt": "a\n"})
    return made


@pytest.fixture
def connector(alice: Owner, hosted: Hosted) -> Connector:
    return alice.connected(hosted.kind)


def bind(owner: Owner, **body: Any) -> Any:
    return owner.client.post(WORKSPACES, body, format="json")


def bound(owner: Owner, connector: Connector) -> Workspace:
    answer = bind(owner, connector_id=str(connector.pk))
    assert answer.status_code == 201, answer.content
    return Workspace.objects.get(pk=answer.json()["id"])


def status_of(owner: Owner, workspace: Workspace) -> str:
    return str(owner.client.get(f"{WORKSPACES}/{workspace.pk}").json()["status"])


def repositories(owner: Owner, workspace: Workspace) -> Any:
    return owner.client.get(f"{WORKSPACES}/{workspace.pk}/repos")


def test_an_account_is_connected_by_a_connector(
    alice: Owner, hosted: Hosted, connector: Connector
) -> None:
    answer = bind(alice, connector_id=str(connector.pk), name="My site")

    assert answer.status_code == 201
    workspace = answer.json()
    assert {name: workspace[name] for name in workspace if name not in ("id", "checked_at")} == {
        "provider": hosted.kind,
        "base_url": hosted.base_url,
        "connector_id": str(connector.pk),
        "name": "My site",
        "login": alice.login,
        "status": "connected",
        "scopes": connector.scopes,
        "expires_at": None,
        "created_at": workspace["created_at"],
    }
    [repository] = repositories(alice, Workspace.objects.get(pk=workspace["id"])).json()
    assert (repository["name"], repository["can_write"]) == (hosted.repository, True)
    assert alice.events()[-1] == "workspace.created"


def test_without_a_name_it_has_that_of_the_account(alice: Owner, connector: Connector) -> None:
    assert bind(alice, connector_id=str(connector.pk)).json()["name"] == alice.login


def test_a_repository_is_read_with_tokens_that_end_meanwhile(
    alice: Owner, hosted: Hosted, connector: Connector
) -> None:
    workspace = bound(alice, connector)
    alice.oauth.expire(connector.tokens.access)
    checkout = check_out(user=alice.user, workspace_id=workspace.pk, repository=hosted.repository)
    checkout.save()
    renewed = Connector.objects.get(pk=connector.pk)
    assert renewed.tokens.access != connector.tokens.access

    # Many calls side by side meet the end of the token.
    alice.oauth.expire(renewed.tokens.access)
    read_files(checkout=checkout, paths=["README.md", "a.txt"])
    found = dict(checkout.files.values_list("path", "content"))
    assert found == {"README.md": "# Site\n", "a.txt": "a\n"}
    assert status_of(alice, workspace) == "connected"


def test_a_dead_grant_shows_on_the_workspace_too(
    alice: Owner, hosted: Hosted, connector: Connector
) -> None:
    workspace = bound(alice, connector)
    alice.oauth.revoke(SERVERS[Provider(hosted.kind)], alice.login)

    answer = repositories(alice, workspace)
    assert (answer.status_code, answer.json()["code"]) == (409, "workspace_needs_reauth")
    assert status_of(alice, workspace) == "needs_reauth"
    assert alice.events()[-2:] == ["workspace.updated", "connector.updated"]
    refused = bind(alice, connector_id=str(connector.pk))
    assert (refused.status_code, refused.json()["code"]) == (409, "connector_needs_reauth")

    assert alice.connect(hosted.kind).status_code == 200
    assert status_of(alice, workspace) == "connected"
    assert alice.events()[-2:] == ["workspace.updated", "connector.updated"]
    assert repositories(alice, workspace).status_code == 200


def test_a_workspace_ends_with_a_connector_that_is_not_renewed(
    alice: Owner, hosted: Hosted, connector: Connector, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Connector.objects.filter(pk=connector.pk)
    ends_at = timezone.now() + timedelta(hours=1)
    rows.update(refresh_token="", expires_at=ends_at)
    workspace = bound(alice, connector)
    assert (workspace.expires_at, workspace.status) == (ends_at, "connected")
    with monkeypatch.context() as later:
        later.setattr("django.utils.timezone.now", lambda: ends_at)
        assert (workspace.status, rows.get().status) == ("needs_reauth", "needs_reauth")

    assert alice.connect(hosted.kind).status_code == 200
    workspace.refresh_from_db()
    assert (workspace.expires_at, workspace.status) == (None, "connected")


def test_a_server_that_is_away_for_a_moment_ends_nothing(
    alice: Owner, hosted: Hosted, connector: Connector
) -> None:
    workspace = bound(alice, connector)
    alice.oauth.expire(connector.tokens.access)
    alice.fail(hosted.kind, "refresh", status=503)
    answer = repositories(alice, workspace)
    assert (answer.status_code, answer.json()["code"]) == (502, "git_host_unavailable")
    assert status_of(alice, workspace) == "connected"
    assert repositories(alice, workspace).status_code == 200


def test_what_stands_on_a_connector_ends_with_it(alice: Owner, connector: Connector) -> None:
    first, second = bound(alice, connector), bound(alice, connector)
    assert alice.disconnect(connector) == 204
    assert not Workspace.objects.filter(pk__in=[first.pk, second.pk]).exists()
    assert alice.events()[-3:] == ["workspace.deleted", "workspace.deleted", "connector.deleted"]


def test_a_workspace_that_is_disconnected_leaves_its_connector(
    alice: Owner, connector: Connector
) -> None:
    workspace = bound(alice, connector)
    assert alice.client.delete(f"{WORKSPACES}/{workspace.pk}").status_code == 204
    assert [each["id"] for each in alice.get().json()] == [str(connector.pk)]


def test_a_connector_of_somebody_else_is_422(
    alice: Owner, connector: Connector, simulator: RunningSimulator
) -> None:
    bob = Owner("bob", simulator)
    for connector_id in (connector.pk, uuid4()):
        answer = bind(bob, connector_id=str(connector_id))
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["msg"] == "You have no connector with this id."


def test_it_needs_the_pro_plan(alice: Owner, connector: Connector) -> None:
    balance.change_plan(account=alice.user, plan="starter")
    answer = bind(alice, connector_id=str(connector.pk))
    assert answer.status_code == 402
    assert answer.json()["detail"]["code"] == "feature_required"
    assert answer.json()["detail"]["feature"] == "workspaces"


def test_there_are_only_so_many(alice: Owner, connector: Connector) -> None:
    Workspace.objects.bulk_create(
        Workspace(account=alice.user, provider=connector.provider, name=str(n), login="x")
        for n in range(MAX_WORKSPACES)
    )
    answer = bind(alice, connector_id=str(connector.pk))
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_workspaces")


def test_a_drive_is_no_workspace(alice: Owner) -> None:
    drive = alice.connected("google_drive")
    answer = bind(alice, connector_id=str(drive.pk))
    assert answer.status_code == 422
    assert "leads to no repositories" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "provider"),
        ({"provider": "github"}, "token"),
        ({"token": "x"}, "provider"),
        ({"connector_id": "x"}, "connector_id"),
        ({"connector_id": None}, "connector_id"),
        ({"connector_id": "{id}", "token": "x"}, "token"),
        ({"connector_id": "{id}", "provider": "gitlab"}, "provider"),
        ({"connector_id": "{id}", "base_url": "https://git.example"}, "base_url"),
    ],
)
def test_a_body_that_will_not_do_is_422(alice: Owner, body: dict[str, Any], field: str) -> None:
    connector_id = uuid4()
    filled = {name: str(connector_id) if value == "{id}" else value for name, value in body.items()}
    answer = bind(alice, **filled)
    assert answer.status_code == 422, answer.content
    assert [each["loc"] for each in answer.json()["errors"]] == [[field]]


def test_it_has_no_token_of_its_own(alice: Owner, connector: Connector) -> None:
    workspace = bound(alice, connector)
    answer = alice.client.patch(f"{WORKSPACES}/{workspace.pk}", {"token": "x"}, format="json")
    assert answer.status_code == 422
    assert "stands on a connector" in answer.json()["detail"]
    renamed = alice.client.patch(f"{WORKSPACES}/{workspace.pk}", {"name": "New"}, format="json")
    assert renamed.json()["name"] == "New"
