"""A run on a repository, whose files are written to it in one commit."""

from bench.campaign.acts import runs
from bench.campaign.asking import Asker
from projects.tests.principal import RUN

_WORKSPACES = "/api/project/workspaces"
_FILES = {"README.md": "# Sea\n", "src/tide.py": "TIDE = 1\n"}
BRANCH = "ai/sea"


def run_on_repository(asker: Asker) -> None:
    """Connect an account at a Git host, run on its repository, and have the files written."""
    note, kind = asker.note, asker.note.act.options["host"]
    hosts, path = asker.endpoints.simulator.githost, f"{note.marker}/site"
    note.seen["folder"] = hosts.create_repository(kind, path, files=_FILES)["folder"]
    account = {
        "provider": kind,
        "base_url": f"{asker.endpoints.providers_url}/{kind}",
        "token": hosts.create_token(kind, f"token-of-{note.marker}", login=note.marker),
    }
    connected = asker.ask("POST", _WORKSPACES, account)
    if connected.status_code != 201:
        note.seen["refusal"] = connected.json()["code"]
        return
    note.seen["where"] = {"workspace_id": connected.json()["id"], "repo": path}
    runs.begin_and_follow(asker, *creation(asker))
    if "run" in note.seen:
        apply(asker)


def creation(asker: Asker) -> runs.Creation:
    """How the run is begun."""
    return runs.creation(asker, writes=("README.md", "new.md"), **asker.note.seen["where"])


def apply(asker: Asker) -> None:
    """Have the staged files written. There may be none, where the run has failed."""
    path = f"{RUN.path}/sessions/{asker.note.seen['run']}/changes/apply"
    answer = asker.ask("POST", path, {"branch": BRANCH}, name=f"{asker.note.name}-apply")
    if not answer.is_success:
        asker.note.seen["not applied"] = answer.json()["code"]
    elif answer.json()["commit_sha"]:
        asker.note.seen["applied"] = answer.json()


def send_again(asker: Asker) -> None:
    """What was written is not written once more."""
    applied = asker.note.seen.get("applied")
    if applied is None:
        return
    apply(asker)
    if (again := asker.note.seen["applied"]) != applied:
        asker.note.wrong.append(f"was applied as {applied}, sent again: {again}")
