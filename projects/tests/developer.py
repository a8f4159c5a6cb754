"""Somebody whose runs work on a repository."""

from typing import Any

import httpx

from ai.catalog.selectors import get_catalog
from integrations.githosts.tests.hosted import Hosted
from projects.models import Run, Step
from projects.selectors.prompts import ask
from projects.tests.principal import Principal, Shape, part
from projects.types import StepKind

FILES: dict[str, Any] = {
    "README.md": "# Seaside\n",
    "src/app.py": "print('waves')\n",
    "src/tide.py": "TIDE = 1\n",
    "logo.bin": {"base64": "AAEC/w=="},
    "node_modules/x/index.js": "x\n",
    "link": {"content": "README.md", "mode": "120000"},
}


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
        return ask(step, model).messages[0].text
