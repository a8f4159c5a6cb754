"""The operators' admin as a whole: every page opens, quickly, and asks nothing of strangers."""

import re

import httpx
import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.core.cache import cache
from django.db import OperationalError, connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import SignInFailures, User
from accounts.services import known_clients, lockout
from accounts.types import Client
from admin_ui.pages import MAX_COUNT, BoundedPaginator
from billing.services import balance
from billing.tests.bank import IN_PLAN, hold, live_owner, new_account, settle
from common.errors import ServiceUnavailable
from content.models import FlagRecord
from content.services import flags
from content.tests.writing import write
from conversations.tests.rows import talk
from integrations.connectors.models import Connector
from integrations.workspaces.models import Workspace
from media.files.models import StoredFile
from projects.models import Apply, Run
from teams.services import invitations, teams
from tests.operators import Operator, new_operator
from tests.personas import new_key
from tests.service import Web
from work.jobs.models import Job


def _away(*_: object) -> None:
    raise OperationalError("The server closed the connection.")


@pytest.fixture
def operator(db: None) -> Operator:
    cache.clear()
    return new_operator()


def path_of(model: type[Model], page: str, *args: object) -> str:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"
    return reverse(name, args=args).removeprefix("/admin/")


def add_rows(count: int) -> None:
    """Accounts with a bit of everything."""
    owner = live_owner()
    for _ in range(count):
        user = new_account(plan="enterprise")
        key, _ = new_key(user)
        _, charge = hold(user, 10, owner=owner, key=key, model=IN_PLAN)
        settle(charge, 10)
        _, charge = hold(user, 10, owner=owner)
        settle(charge, 10)
        balance.set_contract(account=user, model_id=IN_PLAN, granted=1)
        StoredFile.objects.create(
            account=user, media_type="image/png", size=1, expires_at="2030-01-01T00:00:00Z"
        )
        talk(user, "How deep is the sea?", "Very.")
        Job.objects.create(kind="tests", queue=Job.Queue.DEFAULT, account=user)
        lockout.verify(lambda: False, address=user.email, client=Client("192.0.2.1"))
        known_clients.remember(user=user, client=Client("192.0.2.1"))
        elsewhere = {"account": user, "provider": "github", "login": f"login-{user.pk}"}
        connector = Connector.objects.create(**elsewhere)
        Workspace.objects.create(**elsewhere, name="site", connector=connector)
        add_apply(user)
        write(f"entry-{user.pk}")
        sharing = FlagRecord.objects.get(name="public_sharing")
        flags.set_for_user(flag=sharing, user_id=user.pk, is_on=True)
        add_team(user)


def add_team(user: User) -> None:
    """A team of theirs, that somebody is invited to."""
    teams.create(user=user, name="<b>Sea</b>")
    invitations.invite(user=user, address=f"dora-{user.pk}@example.com", role="member")


def add_apply(user: User) -> Apply:
    """A run of theirs whose files were written in part."""
    run = Run.objects.create(
        account=user, title="Sea", goal="Sea", planner_model=IN_PLAN, max_subtasks=1, max_parallel=1
    )
    conflict = {"code": "conflict", "message": "Somebody has changed it."}
    return Apply.objects.create(
        run=run,
        target="branch",
        branch="ai/secret-branch",
        message="A secret message",
        claim_until=timezone.now(),
        ended_at=timezone.now(),
        commit="1" * 40,
        files=[
            {"path": "secret.md", "op": "create", "status": "applied", "error": None},
            {"path": "secret.txt", "op": "update", "status": "failed", "error": conflict},
        ],
    )


@pytest.mark.parametrize("rows", [0, 2])
def test_every_page_opens_with_rows_and_without(operator: Operator, rows: int) -> None:
    add_rows(rows)
    operator.get("")
    operator.get("password_change/")
    for model in admin.site._registry:
        operator.get(path_of(model, "changelist"))
        operator.is_allowed(path_of(model, "add"))
        for row in model._default_manager.all()[:3]:
            operator.get(path_of(model, "change", row.pk))
            operator.get(path_of(model, "history", row.pk))


def test_every_list_is_in_the_menu(operator: Operator) -> None:
    groups = settings.UNFOLD["SIDEBAR"]["navigation"]
    listed = {str(item["link"]) for group in groups for item in group["items"]}
    lists = {f"/admin/{path_of(model, 'changelist')}" for model in admin.site._registry}
    assert lists - listed == set()


def test_every_row_has_a_name() -> None:
    """Django would call it "Provider object (openai)", in titles and in the audit log."""
    nameless = [each for each in admin.site._registry if each.__str__ is Model.__str__]
    assert nameless == []


def test_an_operator_sees_no_token_of_an_account_elsewhere(operator: Operator) -> None:
    add_rows(1)
    connector = Connector.objects.get()
    connector.access_token = connector.refresh_token = "a sealed token"
    connector.disconnected_at = timezone.now()
    connector.save()
    for page in ("", f"{connector.pk}/change/"):
        shown = operator.get(f"connectors/connector/{page}")
        assert connector.login in shown
        assert "a sealed token" not in shown
        assert "to be revoked" in shown.lower()


def test_an_operator_sees_what_became_of_an_apply_and_not_of_which_files(
    operator: Operator,
) -> None:
    order = add_apply(new_account())
    for page in ("", f"{order.pk}/change/"):
        shown = operator.get(f"projects/apply/{page}")
        assert str(order.run_id) in shown
        assert "partial" in shown.lower()
        assert "conflict: 1" in shown
        assert "secret" not in shown.lower()


def test_lists_ask_as_often_for_many_rows_as_for_few(operator: Operator) -> None:
    add_rows(2)
    queries(operator, LogEntry)  # the process keeps the content types that this list shows
    few = {model: queries(operator, model) for model in admin.site._registry}
    add_rows(5)
    assert {model: queries(operator, model) for model in few} == few


def queries(operator: Operator, model: type[Model]) -> int:
    with CaptureQueriesContext(connection) as captured:
        operator.get(path_of(model, "changelist"))
    return len(captured)


def test_what_users_write_is_shown_as_text(operator: Operator) -> None:
    user = new_account()
    user.name = "<script>alert(1)</script>"
    user.save()
    key, _ = new_key(user)
    key.name = user.name
    key.save()
    for path in (
        f"accounts/user/?q={user.pk}",
        f"accounts/user/{user.pk}/change/",
        f"accounts/user/{user.pk}/suspend/",
        f"accounts/apikey/?q={user.pk}",
        f"billing/wallet/{user.pk}/adjust/",
    ):
        page = operator.get(path)
        assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in operator.get(f"accounts/user/?q={user.pk}")


def test_a_long_list_is_counted_so_far_and_no_further(operator: Operator) -> None:
    SignInFailures.objects.bulk_create(
        SignInFailures(name=f"{n}@example.com", last_at="2026-11-21T00:00:00Z")
        for n in range(MAX_COUNT + 1)
    )
    rows = SignInFailures.objects.order_by("name")
    with CaptureQueriesContext(connection) as captured:
        assert BoundedPaginator(rows, 50).num_pages == MAX_COUNT // 50
    assert f"LIMIT {MAX_COUNT}" in captured[0]["sql"]


@pytest.mark.usefixtures("committed")
def test_everything_that_a_page_loads_comes_from_the_web_process_itself(web: Web) -> None:
    """Also where the machine has no way to the internet."""
    page = httpx.get(f"{web.url}/admin/login/")
    assert page.status_code == 200
    loaded = re.findall(r'<(?:link|script|img)\b[^>]*\b(?:href|src)="([^"]+)"', page.text)
    assert any(url.endswith(".css") for url in loaded)
    assert any(url.endswith(".js") for url in loaded)

    for url in loaded:
        assert url.startswith("/static/")
        answer = httpx.get(web.url + url)
        assert answer.status_code == 200
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert httpx.get(web.url + url, headers={"Host": "else.example"}).status_code == 400
        if url.endswith(".css"):
            assert answer.headers["content-type"].startswith("text/css")
            assert not re.search(r"url\(['\"]?(https?:)?//", answer.text)


def test_a_page_without_a_database_is_a_503_that_says_so(operator: Operator) -> None:
    operator.client.raise_request_exception = False
    with connection.execute_wrapper(_away):
        answer = operator.client.get("/admin/")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert ServiceUnavailable.message in answer.content.decode()
