"""A developer whose runs have staged files."""

from typing import Any

from projects.tests.developer import Developer
from projects.tests.principal import Shape, part

FILES: dict[str, Any] = {
    "README.md": "# Seaside\n",
    "src/app.py": "print('waves')\n",
    "run.sh": {"content": "#!/bin/sh\n", "mode": "100755"},
    "windows.txt": "a\r\nb\r\n",
    "open.txt": "no end of line",
    "logo.bin": {"base64": "AAEC/w=="},
    "link": {"content": "README.md", "mode": "120000"},
}
CHANGES = {
    "README.md": "# Other\n",
    "run.sh": "#!/bin/sh\necho\n",
    "new/ü.md": "x\n",
    "open.txt": "",
}


class Reviewer(Developer):
    """A developer whose runs have staged files."""

    def staged(self, **replaced: str) -> Shape:
        """A run with these files staged, by their paths; an empty one is deleted."""
        run = self.finished(part("a", reads=[*FILES]))
        return self.stage(run, replaced)

    def stage(self, run: Shape, files: dict[str, str]) -> Shape:
        """Write them as the result of the first subtask, as its user can."""
        body = [
            {"path": path, "content": content, "op": "update" if content else "delete"}
            for path, content in files.items()
        ]
        self.alice.do(
            "POST",
            f"/sessions/{run['id']}/replace",
            subtask_id=run["subtasks"][0]["id"],
            content="Mine.",
            files=body,
        )
        with self.alice.follow(run) as follower:
            pass
        return follower.pictures[-1]

    def changes(self, run: Shape) -> Any:
        return self.alice.do("GET", f"/sessions/{run['id']}/changes")

    def try_to_apply(self, run: Shape, key: str | None = None, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.alice.token}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        path = f"/api/project/sessions/{run['id']}/changes/apply"
        return self.alice.http.post(path, json=body, headers=headers)

    def apply(self, run: Shape, **body: Any) -> Any:
        answer = self.try_to_apply(run, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def outcomes(self, result: Any) -> dict[str, Any]:
        """The status of each file, or the code of its error."""
        return {
            file["path"]: file["error"]["code"] if file["error"] else file["status"]
            for file in result["files"]
        }
