"""Runs that work on a repository: what is read of it, when, and what happens when it cannot be."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connection, transaction

from integrations.workspaces.models import Checkout, CheckoutFile
from integrations.workspaces.services.checkouts import add_symbols, read_files
from projects.models import Run, Step
from projects.services.sources import read_sources
from projects.tests.conftest import NewPrincipal
from projects.tests.developer import FILES, Developer
from projects.tests.principal import Shape, part
from projects.types import StepKind
from simulator.process import RunningSimulator
from tests.follow import wait_until
from tests.locks import wait_until_blocked
from tests.personas import new_user

PARTS = (
    part("a", reads=["src/app.py", "README.md"], writes=["src/tide.py"]),
    part("b", "a", reads=["logo.bin"]),
)


# --- Reading --------------------------------------------------------------------------------------


def test_a_run_works_on_the_newest_commit_of_the_default_branch(developer: Developer) -> None:
    run = developer.finished(*PARTS)
    hosted = developer.hosted
    with hosted.connect() as host:
        main = host.get_branch(hosted.repository, "main")
    assert main is not None
    assert run["status"] == "completed"
    assert run["repository"] == {
        "workspace_id": developer.workspace_id,
        "provider": hosted.kind,
        "name": hosted.repository,
        "url": f"{hosted.base_url}/{hosted.repository}",
        "branch": "main",
        "default_branch": "main",
        "commit": main.commit,
    }


def test_a_run_works_on_another_branch_where_one_is_named(on_github: Developer) -> None:
    commit = on_github.hosted.somebody_commits({"new.md": "new\n"}, branch="feature/sea")
    run = on_github.finished(*PARTS, branch="feature/sea")
    assert (run["repository"]["branch"], run["repository"]["commit"]) == ("feature/sea", commit)
    assert "new.md" in {file["path"] for file in on_github.files(run).json()}


def test_the_planner_sees_the_readme_the_tree_and_what_files_define(developer: Developer) -> None:
    run = developer.finished(*PARTS)
    prompt = developer.prompt(run, StepKind.PLAN)
    digest = prompt.partition("<repository>\n")[2].partition("\n</repository>")[0]
    assert digest.split("\n") == [
        "# Seaside",
        "",
        "node_modules/ (1 file)",
        "src/",
        "  app.py",
        "  tide.py: TIDE",
        "README.md",
        "link",
        "(1 file generated, binary or deep)",
    ]
    assert '"reads": [' in prompt


def test_a_planner_does_not_wait_for_a_host_that_fails_and_sees_the_names_alone(
    developer: Developer,
) -> None:
    developer.hosted.fail("get_blob", status=503, skip=1, times=2)
    run = developer.finished(*PARTS)
    assert run["status"] == "completed"
    assert "\n  tide.py\n" in developer.prompt(run, StepKind.PLAN)


def test_an_author_sees_what_it_reads_and_what_it_writes(developer: Developer) -> None:
    run = developer.finished(*PARTS)
    first = developer.prompt(run, StepKind.WORK, "Part a")
    assert "<file name=\"src/app.py\">\nprint('waves')\n" in first
    assert '<file name="README.md">\n# Seaside\n' in first
    assert '<file name="src/tide.py">\nTIDE = 1\n' in first
    second = developer.prompt(run, StepKind.WORK, "Part b")
    assert '<file name="logo.bin">\n[No text, or too long to be shown.]' in second
    sections = Step.objects.filter(run=run["id"], kind="work").earliest("id").result["sections"]
    assert "file: src/app.py" in sections


def test_an_author_sees_what_others_have_made_of_a_file(on_github: Developer) -> None:
    run = on_github.finished(
        part("a", writes=["src/app.py"]), part("b", "a"), part("c", "b", reads=["src/app.py"])
    )
    assert run["status"] == "completed"
    assert "print('waves')" in on_github.prompt(run, StepKind.WORK, "Part a")
    assert "print('waves')\n" not in on_github.prompt(run, StepKind.WORK, "Part c")


def test_what_is_committed_later_is_not_seen(on_github: Developer) -> None:
    goal = on_github.alice.goal(*PARTS, plan={"ttft_ms": 1_500})
    run = on_github.alice.start(goal=goal, **on_github.where())
    on_github.hosted.somebody_commits({"src/app.py": "print('storm')\n"})
    with on_github.alice.follow(run):
        pass
    assert "print('waves')" in on_github.prompt(run, StepKind.WORK, "Part a")


def test_each_file_is_read_once(on_github: Developer) -> None:
    on_github.finished(part("a", reads=["README.md"]), part("b", "a", reads=["README.md"]))
    operations = on_github.hosted.operations()
    # The README when the run was started, and with both sources for the planner.
    assert operations.count("get_blob") == 4


def test_a_subtask_says_what_it_reads(on_github: Developer) -> None:
    run = on_github.finished(*PARTS)
    assert run["subtasks"][0]["reads"] == ["src/app.py", "README.md"]


# --- Files ----------------------------------------------------------------------------------------


def test_the_files_are_the_repositorys_with_those_of_the_run_in_their_places(
    developer: Developer,
) -> None:
    run = developer.finished(*PARTS)
    files = {file["path"]: file for file in developer.files(run).json()}
    assert {path: file["origin"] for path, file in files.items()} == {
        "README.md": "repository",
        "link": "repository",
        "logo.bin": "repository",
        "node_modules/x/index.js": "repository",
        "src/app.py": "repository",
        "src/tide.py": "staged",
    }
    assert files["README.md"]["size"] == (10 if developer.hosted.kind == "github" else None)


def test_one_file_comes_with_its_content(developer: Developer) -> None:
    run = developer.finished(*PARTS)
    [readme] = developer.files(run, "?path=README.md").json()
    assert (readme["origin"], readme["content"]) == ("repository", "# Seaside\n")
    [app] = developer.files(run, "?path=src/app.py").json()
    assert app["content"] == "print('waves')\n"
    [logo] = developer.files(run, "?path=logo.bin").json()
    assert logo["content"] is None
    [tide] = developer.files(run, "?path=src/tide.py").json()
    assert tide["origin"] == "staged"
    assert developer.files(run, "?path=gone.py").status_code == 404


@pytest.mark.parametrize(("length", "status"), [(4_096, 404), (4_097, 422)])
def test_a_path_has_a_limit(on_github: Developer, length: int, status: int) -> None:
    run = on_github.finished(part("a"))
    assert on_github.files(run, f"?path={'x' * length}").status_code == status


def test_a_long_list_comes_in_pages(on_github: Developer) -> None:
    many = {f"d{n % 50:02}/f{n:05}.txt": "x" for n in range(10_400)}
    on_github.hosted.somebody_commits(many)
    run = on_github.finished(part("a"))
    answer = on_github.files(run)
    first = [file["path"] for file in answer.json()]
    link = answer.headers["Link"].partition(">")[0].removeprefix("<")
    rest = on_github.alice.http.get(
        link, headers={"Authorization": f"Bearer {on_github.alice.token}"}
    )
    paths = [*first, *(file["path"] for file in rest.json())]
    assert (len(first), "Link" in rest.headers) == (10_000, False)
    assert paths == sorted([*many, *FILES])


def test_the_files_stay_when_the_workspace_is_disconnected(on_github: Developer) -> None:
    run = on_github.finished(*PARTS)
    on_github.alice.do("DELETE", f"/workspaces/{on_github.workspace_id}")
    assert on_github.files(run).status_code == 200
    assert on_github.files(run, "?path=README.md").json()[0]["content"] == "# Seaside\n"
    answer = on_github.files(run, "?path=node_modules/x/index.js")
    assert (answer.status_code, answer.json()["code"]) == (404, "workspace_not_found")


def test_what_was_read_goes_with_the_run(on_github: Developer) -> None:
    run = on_github.finished(*PARTS)
    checkout = Run.objects.get(pk=run["id"]).checkout
    on_github.alice.do("DELETE", f"/sessions/{run['id']}")
    assert checkout is not None
    assert not Checkout.objects.filter(pk=checkout.pk).exists()


# --- What cannot be begun -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"repo": ""}, "repo"),
        ({"repo": None}, "repo"),
        ({"repo": "nobody/nothing"}, "repo"),
        ({"repo": "../../user"}, "repo"),
        ({"repo": "a" * 500}, "repo"),
        ({"branch": "gone"}, "branch"),
        ({"branch": "a..b"}, "branch"),
        ({"branch": "a b"}, "branch"),
        ({"branch": "-x"}, "branch"),
        ({"branch": "HEAD"}, "branch"),
        ({"branch": "x" * 300}, "branch"),
        ({"workspace_id": "x"}, "workspace_id"),
    ],
)
def test_a_repository_that_will_not_do_is_422_and_begins_nothing(
    developer: Developer, fields: Shape, field: str
) -> None:
    answer = developer.send(**fields)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["loc"] == [field]
    assert not Run.objects.filter(account=developer.alice.user).exists()


def test_an_empty_repository_is_422(developer: Developer) -> None:
    developer.hosted.add("empty")
    answer = developer.send(repo=f"{developer.hosted.login}/empty")
    assert answer.status_code == 422
    assert "no commit yet" in answer.json()["detail"]


def test_a_workspace_of_somebody_else_is_not_there(
    on_github: Developer, principal: NewPrincipal
) -> None:
    bob = principal(name="bob")
    for workspace_id in (on_github.workspace_id, str(uuid4())):
        answer = bob.send(
            "POST", "/sessions", prompt="x", workspace_id=workspace_id, repo="alice/site"
        )
        assert answer.status_code == 404


def test_a_repository_needs_a_workspace_and_a_branch_a_repository(on_github: Developer) -> None:
    """Otherwise a run would be paid that works on nothing."""
    alice, where = on_github.alice, on_github.where()
    bodies: list[tuple[Shape, str, str]] = [
        ({"repo": where["repo"]}, "workspace_id", "the workspace that the repository is reached"),
        ({"repo": where["repo"], "workspace_id": None}, "workspace_id", "the workspace that"),
        ({"branch": "main"}, "repo", "the repository of the branch"),
    ]
    for body, field, words in bodies:
        answer = alice.send("POST", "/sessions", prompt="Write.", **body)
        assert (answer.status_code, answer.json()["code"]) == (422, "validation_failed"), body
        [error] = answer.json()["errors"]
        assert error["loc"] == [field]
        assert words in error["msg"]
    assert not Run.objects.filter(account=alice.user).exists()


def test_a_dead_token_begins_nothing(developer: Developer) -> None:
    developer.hosted.control.revoke_token(developer.hosted.token)
    answer = developer.send()
    assert (answer.status_code, answer.json()["code"]) == (409, "workspace_needs_reauth")


@pytest.mark.parametrize("operation", ["get_repository", "get_branch", "get_tree", "get_blob"])
@pytest.mark.parametrize("fault", [{"status": 500}, {"drop": True}, {"html": True, "status": 502}])
def test_a_host_that_fails_begins_nothing(
    developer: Developer, operation: str, fault: Shape
) -> None:
    developer.hosted.fail(operation, **fault)
    answer = developer.send()
    assert (answer.status_code, answer.json()["code"]) == (502, "git_host_unavailable")
    assert not Run.objects.filter(account=developer.alice.user).exists()


def test_a_repeated_request_does_not_ask_the_host_again(on_github: Developer) -> None:
    key = uuid4().hex
    first = on_github.send(key, branch="main")
    asked = len(on_github.hosted.operations())
    on_github.hosted.control.revoke_token(on_github.hosted.token)
    second = on_github.alice.http.post(
        "/api/project/sessions",
        content=first.request.content,
        headers=first.request.headers,
    )
    assert (second.status_code, second.json()["id"]) == (201, first.json()["id"])
    assert len(on_github.hosted.operations()) == asked
    with on_github.alice.follow(first.json()):
        pass


def test_repositories_need_the_pro_plan(
    principal: NewPrincipal, simulator: RunningSimulator
) -> None:
    alice = principal(plan="starter")
    answer = alice.send(
        "POST", "/sessions", prompt="x", workspace_id=str(uuid4()), repo="alice/site"
    )
    assert answer.status_code == 402
    assert answer.json()["detail"]["code"] == "feature_required"


# --- A host that fails meanwhile ------------------------------------------------------------------


def test_a_run_waits_for_a_host_that_is_gone_and_goes_on(developer: Developer) -> None:
    developer.hosted.fail("get_blob", status=503, skip=1, times=1_000)
    run = developer.finished(*PARTS)
    assert (run["status"], run["pause_reason"]) == ("paused", "repository_unavailable")
    assert run["activity"].startswith("Paused: the repository cannot be read.")
    assert run["error"]["code"] == "repository_unavailable"
    assert run["subtasks"][0]["status"] == "queued"

    developer.hosted.control.stop_failing()
    with developer.alice.follow(run) as follower:
        developer.alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    assert follower.pictures[-1]["status"] == "completed"
    developer.alice.check_money(follower.pictures[-1])


def test_a_host_that_stumbles_is_asked_again(on_github: Developer) -> None:
    on_github.hosted.fail("get_blob", status=503, skip=4, times=2)
    assert on_github.finished(*PARTS)["status"] == "completed"


def test_a_run_whose_token_dies_goes_on_with_a_new_one(developer: Developer) -> None:
    hosted, alice = developer.hosted, developer.alice
    run = developer.finished(*PARTS, approve_plan=True)
    hosted.control.revoke_token(hosted.token)
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    paused = follower.pictures[-1]
    assert (paused["status"], paused["pause_reason"]) == ("paused", "repository_unavailable")
    token = hosted.add_token(f"new-{hosted.login}")
    alice.do("PATCH", f"/workspaces/{developer.workspace_id}", token=token)
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    assert follower.pictures[-1]["status"] == "completed"


def test_a_run_without_its_workspace_says_so_and_does_not_ask_for_a_token(
    on_github: Developer,
) -> None:
    run, alice = on_github.finished(*PARTS, approve_plan=True), on_github.alice
    alice.do("DELETE", f"/workspaces/{on_github.workspace_id}")
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert (last["status"], last["pause_reason"]) == ("paused", "repository_unavailable")
    assert last["error"]["code"] == "workspace_not_found"
    assert "has been disconnected" in last["error"]["message"]
    assert "disconnected" in last["advice"]
    assert "token" not in last["advice"]


def test_nobody_elses_run_shows_the_repository(on_github: Developer) -> None:
    run = on_github.finished(part("a"))
    bob = new_user("bob", plan="pro")
    assert not Checkout.objects.filter(account=bob).exists()
    assert Checkout.objects.filter(run=run["id"], account=on_github.alice.user).exists()


# --- A run that is deleted meanwhile --------------------------------------------------------------


def test_a_run_is_deleted_while_a_file_of_it_is_being_kept(on_github: Developer) -> None:
    run = on_github.finished(part("a"))
    checkout = Checkout.objects.get(run=run["id"])
    checkout.files.all().delete()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            read_files(checkout=checkout, paths=["src/app.py"])
            deleted = pool.submit(on_github.alice.send, "DELETE", f"/sessions/{run['id']}")
            wait_until_blocked(connection.connection)
        assert deleted.result().status_code == 204
    assert not Checkout.objects.filter(pk=checkout.pk).exists()


def test_what_is_read_for_a_run_that_is_deleted_is_not_kept(on_github: Developer) -> None:
    run = on_github.finished(part("a"), part("b", "a", reads=["src/app.py"]))
    CheckoutFile.objects.filter(checkout__run=run["id"], path="src/app.py").delete()
    step = Step.objects.filter(run=run["id"], kind=StepKind.WORK, subtask__key="b").earliest("id")
    on_github.hosted.fail("get_blob", delay_ms=500)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_sources, step.pk)
        wait_until(lambda: on_github.hosted.operations()[-1] == "get_blob")
        assert on_github.alice.send("DELETE", f"/sessions/{run['id']}").status_code == 204
        reading.result()


def test_symbols_of_a_run_that_is_deleted_are_not_kept(on_github: Developer) -> None:
    run = on_github.finished(part("a"))
    checkout = Checkout.objects.get(run=run["id"])
    assert checkout.entries
    assert on_github.alice.send("DELETE", f"/sessions/{run['id']}").status_code == 204
    add_symbols(checkout=checkout)
    assert not Checkout.objects.filter(pk=checkout.pk).exists()
