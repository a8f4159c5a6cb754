"""Runs that work on a repository: what is read of it, when, and what happens when it cannot be."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from catalog.selectors import get_catalog
from githosts.tests.hosted import Hosted
from githosts.types import HostKind
from projects.models import Run, Step
from projects.selectors.briefs import messages_for
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part
from projects.types import StepKind
from simulator.process import RunningSimulator
from tests.personas import new_user
from workspaces.models import Checkout

FILES: dict[str, Any] = {
    "README.md": "# Seaside\n",
    "src/app.py": "print('waves')\n",
    "src/tide.py": "TIDE = 1\n",
    "logo.bin": {"base64": "AAEC/w=="},
    "node_modules/x/index.js": "x\n",
    "link": {"content": "README.md", "mode": "120000"},
}
PARTS = (
    part("a", reads=["src/app.py", "README.md", "gone.py"], writes=["src/tide.py"]),
    part("b", "a", reads=["logo.bin"]),
)


class Developer:
    """Alice with a repository at a host, connected as a workspace."""

    def __init__(self, alice: Principal, hosted: Hosted) -> None:
        self.alice = alice
        self.hosted = hosted
        workspace = alice.do(
            "POST",
            "/workspaces",
            provider=hosted.kind,
            token=hosted.token,
            base_url=hosted.base_url,
        )
        self.workspace_id = workspace["id"]

    def where(self, **fields: Any) -> Shape:
        """The fields of a run on the repository."""
        return {"workspace_id": self.workspace_id, "repo": self.hosted.repository, **fields}

    def send(self, key: str | None = None, **fields: Any) -> httpx.Response:
        body = {"prompt": self.alice.goal(part("a")), **self.where(**fields)}
        headers = {"Authorization": f"Bearer {self.alice.token}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        return self.alice.http.post("/api/project/sessions", json=body, headers=headers)

    def finished(self, *parts: Shape, **fields: Any) -> Shape:
        return self.alice.finished(*parts, **self.where(**fields))

    def files(self, run: Shape, query: str = "") -> Any:
        return self.alice.send("GET", f"/sessions/{run['id']}/files{query}")

    def prompt(self, run: Shape, kind: StepKind, title: str | None = None) -> str:
        """What the latest step of that kind was asked, about the subtask of that title."""
        steps = Step.objects.filter(run=run["id"], kind=kind).select_related("subtask", "attempt")
        step = (steps.filter(subtask__title=title) if title else steps).latest("id")
        step.run = Run.objects.get(pk=run["id"])
        model = get_catalog().find(step.model)
        assert model is not None
        return messages_for(step, model)[0].text


@pytest.fixture(params=list(HostKind))
def developer(
    request: pytest.FixtureRequest, principal: NewPrincipal, simulator: RunningSimulator
) -> Developer:
    hosted = Hosted.create(simulator, HostKind(request.param), files=FILES)
    return Developer(principal(), hosted)


@pytest.fixture
def on_github(principal: NewPrincipal, simulator: RunningSimulator) -> Developer:
    return Developer(principal(), Hosted.create(simulator, HostKind.GITHUB, files=FILES))


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


def test_the_planner_sees_the_readme_and_the_tree(developer: Developer) -> None:
    run = developer.finished(*PARTS)
    prompt = developer.prompt(run, StepKind.PLAN)
    digest = prompt.partition("<repository>\n")[2].partition("\n</repository>")[0]
    assert digest.split("\n") == [
        "# Seaside",
        "",
        "node_modules/ (1 file)",
        "src/",
        "  app.py",
        "  tide.py",
        "README.md",
        "link",
        "(1 file generated, binary or deep)",
    ]
    assert '"reads": [' in prompt


def test_an_author_sees_what_it_reads_and_what_it_writes(developer: Developer) -> None:
    run = developer.finished(*PARTS)
    first = developer.prompt(run, StepKind.WORK, "Part a")
    assert "<file name=\"src/app.py\">\nprint('waves')\n" in first
    assert '<file name="README.md">\n# Seaside\n' in first
    assert '<file name="src/tide.py">\nTIDE = 1\n' in first
    assert 'name="gone.py"' not in first
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
    assert operations.count("get_blob") == 2  # one for the digest


def test_a_subtask_says_what_it_reads(on_github: Developer) -> None:
    run = on_github.finished(*PARTS)
    assert run["subtasks"][0]["reads"] == ["src/app.py", "README.md", "gone.py"]


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
    assert run["subtasks"][0]["status"] == "queued"

    developer.hosted.control.stop_failing()
    with developer.alice.follow(run) as follower:
        developer.alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    assert follower.pictures[-1]["status"] == "completed"
    developer.alice.check_money(follower.pictures[-1])


def test_a_host_that_stumbles_is_asked_again(on_github: Developer) -> None:
    on_github.hosted.fail("get_blob", status=503, skip=1, times=4)
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


def test_nobody_elses_run_shows_the_repository(on_github: Developer) -> None:
    run = on_github.finished(part("a"))
    bob = new_user("bob", plan="pro")
    assert not Checkout.objects.filter(account=bob).exists()
    assert Checkout.objects.filter(run=run["id"], account=on_github.alice.user).exists()


# --- Files that do not fit ------------------------------------------------------------------------


def file(op: str, path: str, *lines: str) -> str:
    """A file of an answer; the simulator knows the mark."""
    return "\n".join([f"@@FILE {{mark}} {op} {path}", *lines, "@@END {mark}"])


def edits(path: str, *pairs: tuple[str, str]) -> str:
    lines = [line for old, new in pairs for line in ("@@OLD {mark}", old, "@@NEW {mark}", new)]
    return file("edit", path, *lines)


def worked(developer: Developer, *files: str, **fields: Any) -> Shape:
    """A run whose author writes these files, each time it is asked."""
    text = "\n".join(["Done.", *files])
    goal = developer.alice.goal(part("a", **fields), work={"text": text})
    return developer.alice.finished(goal=goal, **developer.where())


def attempts(developer: Developer, run: Shape) -> list[Shape]:
    path = f"/sessions/{run['id']}/subtasks/{run['subtasks'][0]['id']}"
    found: list[Shape] = developer.alice.do("GET", path)["attempts"]
    return found


def contents(developer: Developer, run: Shape) -> dict[str, str]:
    changes = developer.alice.do("GET", f"/sessions/{run['id']}/changes")["files"]
    return {change["path"]: change["content"] for change in changes}


def test_an_author_edits_a_file_in_place(developer: Developer) -> None:
    run = worked(
        developer, edits("src/app.py", ("print('waves')", "print('calm')")), reads=["src/app.py"]
    )
    assert contents(developer, run) == {"src/app.py": "print('calm')\n"}
    assert len(attempts(developer, run)) == 1


def test_an_edit_that_does_not_fit_is_given_back_once_with_the_reason(
    on_github: Developer,
) -> None:
    run = worked(
        on_github,
        edits("src/app.py", ("print('storm')", "print('calm')")),
        file("create", "new.md", "new"),
        reads=["src/app.py"],
    )
    first, second = attempts(on_github, run)
    assert [first["reason"], second["reason"]] == ["initial", "revision"]
    assert first["verdict"] == "revise"
    assert first["review"]["issues"] == [
        "src/app.py: The lines of edit 1 are not in the file. Copy them exactly."
    ]
    assert second["faults"][0]["path"] == "src/app.py"
    assert run["subtasks"][0]["needs_attention"]
    assert contents(on_github, run) == {"new.md": "new\n"}


def test_a_file_that_was_overwritten_unseen_is_shown_and_written_then(
    developer: Developer,
) -> None:
    run = worked(developer, file("update", "src/tide.py", "TIDE = 2"))
    first, second = attempts(developer, run)
    assert "was not read" in first["faults"][0]["message"]
    assert second["faults"] == []
    assert run["subtasks"][0]["reads"] == ["src/tide.py"]
    assert contents(developer, run) == {"src/tide.py": "TIDE = 2\n"}
    assert '<file name="src/tide.py">\nTIDE = 1\n' in developer.prompt(run, StepKind.WORK)
    developer.alice.check_money(run)


def test_it_is_given_back_without_reviews_as_well(on_github: Developer) -> None:
    goal = on_github.alice.goal(
        part("a"), work={"text": "Done.\n" + file("update", "src/tide.py", "TIDE = 2")}
    )
    run = on_github.alice.finished(goal=goal, review=False, **on_github.where())
    assert [each["reason"] for each in attempts(on_github, run)] == ["initial", "revision"]
    assert contents(on_github, run) == {"src/tide.py": "TIDE = 2\n"}


def test_an_edit_is_of_what_another_subtask_has_made(on_github: Developer) -> None:
    write = file("update", "src/tide.py", "TIDE = 2", "SPRING = 1")
    change = edits("src/tide.py", ("TIDE = 2", "TIDE = 3"))
    goal = on_github.alice.goal(
        part("a", writes=["src/tide.py"]), part("b", "a"), work={"text": f"Done.\n{write}"}
    )
    goal = on_github.alice.also(goal, step="work", subtask="Part b", text=f"Done.\n{change}")
    run = on_github.alice.finished(goal=goal, **on_github.where())
    assert contents(on_github, run) == {"src/tide.py": "TIDE = 3\nSPRING = 1\n"}
