"""A user of project runs, who knows of them what the documents say."""

import io
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import httpx

_ENDED = ("completed", "failed", "cancelled")
_POLL = 0.25  # seconds
_PATIENCE = 420.0
_RESUMES = 3
Shape = dict[str, Any]


class Refused(Exception):
    """The service refuses what was asked; the text says what and why."""


@dataclass
class Person:
    """Somebody with a session. `notes` are refusals that a task can go on after."""

    http: httpx.Client
    notes: list[str] = field(default_factory=list)
    run_id: str = ""

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """Raises Refused."""
        answer = self.http.request(method, path, json=body, **options)
        if not answer.is_success:
            told = answer.json() if "json" in answer.headers.get("content-type", "") else {}
            words = told.get("detail") or answer.text[:200]
            short = path.replace(self.run_id, "…") if self.run_id else path
            raise Refused(f"{method} {short}: {answer.status_code} {told.get('code')}: {words}")
        return answer

    def try_to(self, method: str, path: str, body: Any = None) -> Shape | None:
        """The answer; None where it is refused, which is noted."""
        try:
            return self.ask(method, self._path(path), body).json()  # type: ignore[no-any-return]
        except Refused as refused:
            self.notes.append(str(refused))
            return None

    def upload(self, name: str, text: str) -> str:
        files = {"file": (name, text.encode())}
        return str(self.http.post("/api/uploads", files=files).raise_for_status().json()["id"])

    def connect(self, base_url: str, token: str) -> str:
        body = {"provider": "github", "token": token, "base_url": base_url}
        return str(self.ask("POST", "/api/project/workspaces", body).json()["id"])

    def start(self, body: Shape) -> None:
        """Start a run; with another planner where that fails which was wanted, as the refusal
        says."""
        path = "/api/project/sessions"
        try:
            started = self.ask("POST", path, body)
        except Refused as refused:
            if "provider_unavailable" not in str(refused) or "models" not in body:
                raise
            self.notes.append(str(refused))
            started = self.ask("POST", path, {**body, "planner_model": body["models"][1]})
        self.run_id = started.json()["id"]

    def run(self) -> Shape:
        shown: Shape = self.ask("GET", self._path("")).json()
        return shown

    def wait(self) -> Shape:
        """The run when it has ended. One that is paused is resumed some times; one that still is
        ends with what it has."""
        deadline, resumes = time.monotonic() + _PATIENCE, 0
        while time.monotonic() < deadline:
            run = self.run()
            if run["status"] in _ENDED and not run["in_flight"]:
                return run
            if run["status"] == "paused" and not run["in_flight"]:
                self.notes.append(f"paused: {run['pause_reason']}")
                resumes += 1
                action = "resume" if resumes <= _RESUMES else "finish"
                done = self.try_to("POST", "/control", {"action": action})
                if done is None and action == "finish":
                    return run
            time.sleep(_POLL)
        self.notes.append(f"still {run['status']} after {_PATIENCE:.0f} s")
        return run

    def send(self, content: str) -> Shape:
        """The run when it has ended again after a message."""
        if self.try_to("POST", "/message", {"content": content}) is None:
            return self.run()
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            run = self.wait()
            if run["messages"] and run["messages"][-1]["status"] != "waiting":
                return run
            time.sleep(_POLL)
        return self.run()

    def apply(self) -> None:
        """Write what is staged to the default branch."""
        ordered = self.try_to("POST", "/changes/apply", {"target": "default"})
        for file in (ordered or {}).get("files", []):
            if file["status"] == "failed":
                self.notes.append(f"{file['path']}: {file['error']['code']}")

    def take(self, folder: Path) -> None:
        """Save the final text, the other texts and the files."""
        texts = self.ask("GET", self._path("/deliverables")).json()
        final = [each for each in texts if each["subtask_id"] is None] or texts[-1:]
        if final:
            path = f"/api/project/deliverables/{final[0]['id']}/download"
            (folder / "final.md").write_text(self.ask("GET", path).text)
        archive = self.ask("GET", self._path("/deliverables.zip")).content
        with ZipFile(io.BytesIO(archive)) as opened:
            for name in opened.namelist():
                target = folder / (name if name.startswith("files/") else f"texts/{name}")
                if folder in target.resolve().parents:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(opened.read(name))

    def _path(self, rest: str) -> str:
        return f"/api/project/sessions/{self.run_id}{rest}"


def clone(url: str, token: str, folder: Path) -> None:
    """The default branch as Git gets it."""
    url = url.replace("://", f"://bench:{token}@")
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", url, str(folder)], check=True)
