"""What a run leaves: deliverables, files, and their downloads."""

import json
from decimal import Decimal
from io import BytesIO
from zipfile import ZipFile

from events.models import Event
from projects.models import Run
from projects.selectors.material import readable_uploads
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, Principal, Shape, part


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


def test_a_completed_run_has_its_final_text(principal: NewPrincipal) -> None:
    """That of a single part is the part's text, which its user may write."""
    alice = principal()
    run = alice.finished(part("a"), part("b", "a"))
    download = alice.send("GET", f"/deliverables/{run['deliverables'][-1]['id']}/download")
    assert run["final_text"] == download.text
    single = alice.finished(part("a"))
    assert single["final_text"].startswith("## Part a")
    body = {"subtask_id": single["subtasks"][0]["id"], "content": "ü" * 150_000}
    with alice.follow(single) as follower:
        alice.do("POST", f"/sessions/{single['id']}/replace", **body)
    last = follower.pictures[-1]
    assert last["final_text"] == "ü" * 100_000, "200,000 bytes of it"
    assert last["deliverables"][0]["size"] == 150_000


def test_deliverables_are_in_the_order_of_the_plan_and_the_final_one_last(
    principal: NewPrincipal,
) -> None:
    """Whichever was written first."""
    alice = principal()
    run = alice.finished(part("a"), part("b"))
    a, b = run["subtasks"]
    with alice.follow(run) as follower:
        alice.do("PATCH", f"/sessions/{run['id']}/plan", add=[part("c")], order=["b", "a"])
    last = follower.pictures[-1]
    c = next(each for each in last["subtasks"] if each["key"] == "c")
    order = [b["id"], a["id"], c["id"], None]
    assert [each["subtask_id"] for each in last["deliverables"]] == order
    rows = alice.do("GET", f"/sessions/{run['id']}/deliverables")
    assert rows == last["deliverables"]


def test_what_was_paid_is_told_by_vendor(principal: NewPrincipal) -> None:
    alice = principal()
    parts = (part("a", model=BALANCE_ONLY), part("b", model="gpt-6-luna"))
    run = alice.finished(*parts, planner_model="gpt-6-luna")
    costs = run["cost_by_vendor"]
    assert [each["vendor"] for each in costs][:1] == ["moonshot"]
    assert sum(Decimal(str(each["cost_usd"])) for each in costs) == Decimal(str(run["cost_usd"]))
    assert sum(each["calls"] for each in costs) == len(alice.calls())
    amounts = [each["cost_usd"] for each in costs]
    assert amounts == sorted(amounts, reverse=True)
    assert all(each["tokens_in"] and each["tokens_out"] for each in costs)
    exported = alice.send("GET", f"/sessions/{run['id']}/export").text
    assert f"| {costs[0]['vendor']} | $" in exported
    assert alice.do("GET", f"/sessions/{run['id']}/export?format=json")["cost_by_vendor"] == costs


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


def test_a_subtask_is_seen_with_all_attempts_and_what_its_authors_were_given(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(part("a"), part("b", "a", title="Prices", writes=["p.csv"]))
    b = run["subtasks"][1]
    detail = alice.do("GET", f"/sessions/{run['id']}/subtasks/{b['id']}")
    first, second = detail["attempts"]
    assert [each["verdict"] for each in (first, second)] == ["revise", "accept"]
    assert first["review"]["issues"] == ["Say of each price whether tax is included."]
    assert first["body"].startswith("## Prices")
    assert [file["path"] for file in first["files"]] == ["p.csv"]
    assert first["faults"] == []
    assert "result: a, Part a" in first["sections"]
    assert {**detail, "attempts": b["attempts"]} == b
    other = alice.finished(part("a"))
    assert alice.send("GET", f"/sessions/{other['id']}/subtasks/{b['id']}").status_code == 404


def test_a_run_is_exported(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a", writes=["sea.md"]), part("b", "a"), title="Sea/Life")
    one = f"/sessions/{run['id']}"
    text = alice.send("GET", f"{one}/export")
    assert text.headers["Content-Disposition"] == 'attachment; filename="Sea Life.md"'
    headings = [line for line in text.text.split("\n") if line.startswith(("# Sea", "## Part"))]
    assert headings[0] == "# Sea/Life"
    assert "## Part b" in headings
    shown = alice.do("GET", f"{one}/export?format=json")
    assert {**shown, "texts": None} == {**run, "texts": None}
    assert shown["texts"].keys() == {"Sea/Life", "Part a", "Part b"}
    assert alice.send("GET", f"{one}/export?format=pdf").status_code == 422
    archive = ZipFile(BytesIO(alice.send("GET", f"{one}/deliverables.zip").content))
    names = ["00 Sea Life.md", "01 Part a.md", "02 Part b.md", "files/sea.md"]
    assert archive.namelist() == names


def test_an_estimate_says_what_a_run_costs_before_it_starts(principal: NewPrincipal) -> None:
    alice = principal()
    estimate = alice.do("POST", "/sessions/estimate", prompt="Write about the sea.")
    counts = {each["kind"]: each["count"] for each in estimate["steps"]}
    assert counts == {"plan": 1, "work": 5, "review": 5, "final": 1}
    assert 0 < estimate["low_usd"] < estimate["expected_usd"] < estimate["high_usd"]
    assert estimate["available_usd"] == 50
    small = alice.do("POST", "/sessions/estimate", prompt="Sea.", max_subtasks=1, review=False)
    assert {each["kind"]: each["count"] for each in small["steps"]} == {"plan": 1, "work": 1}
    bob = principal(name="bob", plan="free")
    assert bob.send("POST", "/sessions/estimate", prompt="Sea.").status_code == 402
