"""What a run leaves: deliverables, files, and their downloads."""

import json

from events.models import Event
from projects.models import Run
from projects.selectors.briefs import readable_uploads
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part


def files(alice: Principal, run: Shape, query: str = "") -> list[Shape]:
    rows: list[Shape] = alice.do("GET", f"/sessions/{run['id']}/files{query}")
    return rows


def data_of(run: Shape, event_type: str) -> list[Shape]:
    events = Event.objects.filter(stream=run["id"], type=event_type).order_by("seq")
    return [json.loads(data) for data in events.values_list("data", flat=True)]


def test_of_two_files_with_one_path_that_of_the_later_subtask_counts(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    parts = (part("a", writes=["sea.md", "a.csv"]), part("b", writes=["sea.md"]))
    run = alice.finished(*parts)
    a, b = run["subtasks"]
    assert b["depends_on"] == ["a"]
    staged = [(each["path"], each["origin"], each["subtask_id"]) for each in files(alice, run)]
    assert staged == [("a.csv", "staged", a["id"]), ("sea.md", "staged", b["id"])]
    replaced = [(each["path"], each["replaces"]) for each in data_of(run, "file.staged")]
    assert replaced == [("a.csv", None), ("sea.md", None), ("sea.md", a["id"])]
    [proposed] = data_of(run, "changes.proposed")
    assert [each["path"] for each in proposed["files"]] == ["a.csv", "sea.md"]
    assert proposed["proposal"]["target"] == "branch"
    assert proposed["proposal"]["branch"].startswith("ai/write-about-the-sea-")


def test_one_file_comes_with_its_content(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a", writes=["sea.md"]))
    [file] = files(alice, run, "?path=sea.md")
    assert (file["mime"], file["size"]) == ("text/markdown", len(file["content"]))
    assert file["content"].startswith("# ")
    assert alice.send("GET", f"/sessions/{run['id']}/files?path=other.md").status_code == 404


def test_an_upload_is_seen_and_read(principal: NewPrincipal) -> None:
    alice = principal()
    upload = alice.http.post(
        "/api/uploads",
        files={"file": ("notes.txt", b"The sea is salt.", "text/plain")},
        headers={"Authorization": f"Bearer {alice.token}"},
    ).json()
    run = alice.finished(part("a"), upload_ids=[upload["id"]])
    [file] = files(alice, run)
    assert (file["path"], file["origin"], file["mime"]) == ("notes.txt", "upload", "text/plain")
    assert readable_uploads(Run.objects.get(pk=run["id"])) == {"notes.txt": "The sea is salt."}


def test_deliverables_are_final_when_the_run_is_over(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), part("b", "a"))
    rows = alice.do("GET", f"/sessions/{run['id']}/deliverables")
    assert rows == run["deliverables"]
    assert [(row["name"], row["status"], row["version"]) for row in rows] == [
        ("Part a", "final", 1),
        ("Part b", "final", 1),
        (run["title"], "final", 1),
    ]
    assert [row["subtask_id"] is None for row in rows] == [False, False, True]


def test_a_deliverable_is_downloaded_under_a_harmless_name(principal: NewPrincipal) -> None:
    alice = principal()
    name = '"; filename=x\r\nSet-Cookie: a=b'
    run = alice.finished(part("a", title=name))
    [deliverable] = run["deliverables"]
    answer = alice.send("GET", f"/deliverables/{deliverable['id']}/download")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Set-Cookie" not in answer.headers
    disposition = answer.headers["Content-Disposition"]
    assert disposition == 'attachment; filename="; filename=x Set-Cookie a=b.md"'
    assert answer.text.startswith("## ")


def test_what_others_have_is_404(principal: NewPrincipal) -> None:
    alice, bob = principal(), principal(name="bob")
    run = alice.finished(part("a"))
    deliverable = run["deliverables"][0]["id"]
    one = f"/sessions/{run['id']}"
    for method, path, body in (
        ("GET", one, {}),
        ("PATCH", one, {"title": "Mine"}),
        ("DELETE", one, {}),
        ("POST", f"{one}/control", {"action": "cancel"}),
        ("POST", f"{one}/message", {"content": "Hello"}),
        ("PATCH", f"{one}/plan", {"summary": "Mine"}),
        ("GET", f"{one}/files", {}),
        ("GET", f"{one}/deliverables", {}),
        ("GET", f"{one}/events", {}),
        ("GET", f"/deliverables/{deliverable}/download", {}),
    ):
        assert bob.send(method, path, **body).status_code == 404, path
    assert alice.do("GET", one) == run
