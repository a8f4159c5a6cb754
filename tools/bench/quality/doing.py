"""A task from its goal to the judgement: as a user does it, over the public interface."""

import difflib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from bench.quality import confinement
from bench.quality.conditions import MODELS, Condition
from bench.quality.material import Task, shop
from bench.quality.person import Person, Refused, Shape, clone
from simulator.githost.client import GitHostControl

_HOST = "github"


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a task. `faults` are what its judge finds wrong, None where it was not judged;
    `notes` are what the run was refused or paused for."""

    task: str
    faults: list[str] | None
    notes: list[str]
    seconds: float
    cost_usd: float
    status: str

    @property
    def is_solved(self) -> bool:
        return self.faults == []


@dataclass(frozen=True, slots=True)
class Ordered:
    """A task under a condition. `number` is its place among the tasks; `is_real`: by the models of
    the providers, and not by the simulator's; `confined`: judges can be confined."""

    task: Task
    condition: Condition
    number: int
    seed: int
    is_real: bool = False
    confined: bool = True

    def body(self) -> Shape:
        """The fields of the run. The planners take turns."""
        if self.is_real:
            return {"prompt": self.task.goal.strip(), "budget_usd": 5}
        line = self.condition.steering(self.task, self.seed, uuid4().hex)
        first = self.number % len(MODELS)
        return {
            "prompt": f"{self.task.goal.strip()}\n{line}",
            "models": [*MODELS[first:], *MODELS[:first]],
            "planner_model": MODELS[first],
            "budget_usd": 5,
        }


def carry_out(order: Ordered, person: Person, hosts: GitHostControl) -> Done:
    """Do the task, and judge it."""
    started = time.monotonic()
    task, site = order.task, _Site(hosts) if order.task.repository else None
    body = order.body()
    if task.uploads:
        body["upload_ids"] = [person.upload(name, text) for name, text in task.uploads.items()]
    if site is not None:
        body["workspace_id"] = person.connect(hosts.base_url(_HOST), site.token)
        body["repo"] = site.repository
    faults: list[str] | None
    with tempfile.TemporaryDirectory(prefix="quality-") as name:
        folder = Path(name)
        try:
            person.start(body)
            run = person.wait()
            for message in task.messages:
                run = person.send(message)
            if site is not None:
                lost = site.merge(person, order)
            person.take(folder)
        except Refused as refused:
            return Done(
                task.name, [str(refused)], person.notes, time.monotonic() - started, 0.0, "refused"
            )
        if site is not None:
            clone(site.clone_url, site.token, folder / "repository")
            faults = [*lost.missing(folder / "repository")]
        else:
            faults = []
        seconds = time.monotonic() - started
        if task.executes and not order.confined:
            faults = None
        else:
            faults += confinement.faults_of(folder, task.name, confined=order.confined)
    return Done(task.name, faults, person.notes, seconds, float(run["cost_usd"]), run["status"])


class _Others(dict[str, list[str]]):
    """Lines that others have committed meanwhile, by path."""

    def missing(self, folder: Path) -> Iterator[str]:
        for path, lines in self.items():
            text = (folder / path).read_text() if (folder / path).is_file() else ""
            for line in lines:
                if line not in text.split("\n"):
                    yield f"{path} has lost what somebody else has committed"


class _Site:
    """A repository for one run, and a token for it."""

    def __init__(self, hosts: GitHostControl) -> None:
        self._hosts = hosts
        login = f"bench-{uuid4().hex[:12]}"
        self.repository = f"{login}/shop"
        made = hosts.create_repository(_HOST, self.repository, files=shop())
        self.clone_url = str(made["clone_url"])
        self.token = hosts.create_token(_HOST, f"token-of-{login}", login=login)

    def merge(self, person: Person, order: Ordered) -> _Others:
        """Write what is staged, after others have committed. Returns what those have written."""
        files, others = dict[str, str](), _Others()
        for path, lines in order.task.meanwhile.items():
            files[path] = shop()[path]
            for old, new in lines.items():
                files[path] = files[path].replace(old, new)
                others.setdefault(path, []).append(new)
        staged = person.try_to("GET", "/changes") or {"files": []}
        if order.condition.conflicts:
            for file in staged["files"]:
                path = file["path"]
                if file["op"] == "update" and path in shop() and path not in files:
                    line = "# Seen by somebody else." if path.endswith(".py") else "(As seen.)"
                    files[path] = _with_line(shop()[path], file["content"] or "", line)
                    others[path] = [line]
        if files:
            self._hosts.commit(_HOST, self.repository, branch="main", files=files)
        if staged["files"]:
            person.apply()
        return others


def _with_line(content: str, changed: str, line: str) -> str:
    """The content with one more line, as far as can be from all that was changed in it."""
    before, after = content.split("\n"), changed.split("\n")
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    place = 0
    longest = max(matcher.get_matching_blocks(), key=lambda block: block.size)
    if longest.size:
        place = longest.a + longest.size // 2
    return "\n".join([*before[:place], line, *before[place:]])
