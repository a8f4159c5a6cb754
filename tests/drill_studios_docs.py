"""docs/api/studios.md: the printed `gallery` does what the page says, in Node."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from devserver.paths import ROOT
from simulator.process import RunningSimulator
from studios.tests.artist import Artist, Job, new_artist
from tests.documents import examples, section
from tests.environment import inherited
from tests.personas import access_token_of
from tests.service import Web
from tests.worker import Worker

DOCS = ROOT / "docs" / "api"
# Shows pictures until all of them are deleted.
SHOWING = """
const { BASE_URL, TOKEN } = process.env;
await gallery(BASE_URL, TOKEN, "image", (jobs) => {
  console.log(JSON.stringify(jobs.map(({ id, status }) => [id, status])));
  if (!jobs.length) process.exit();
});
"""

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed.")


@pytest.fixture
def alice(
    committed: None, web: Web, worker: Worker, simulator: RunningSimulator
) -> Iterator[Artist]:
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield new_artist(http, simulator)


def showing(alice: Artist, folder: Path) -> "subprocess.Popen[str]":
    """A program that prints the ids and statuses of her pictures, whenever they change."""
    [follow] = examples(section(DOCS / "events.md", "The stream of a user"), "js")
    [gallery] = examples(section(DOCS / "studios.md", "A gallery"), "js")
    (folder / "gallery.mjs").write_text(follow + gallery + SHOWING)
    variables = {"BASE_URL": str(alice.http.base_url), "TOKEN": access_token_of(alice.user)}
    return subprocess.Popen(
        ["node", "--experimental-websocket", "gallery.mjs"],
        cwd=folder,
        env=inherited() | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def delete(alice: Artist, job: Job) -> None:
    assert alice.send("DELETE", f"/api/images/{job['id']}").status_code == 204


def test_a_gallery_follows_its_jobs_without_polling(alice: Artist, tmp_path: Path) -> None:
    old = alice.made("flux-2-pro")
    shown_of_old = [old["id"], "completed"]
    with showing(alice, tmp_path) as program:
        assert program.stdout
        assert json.loads(program.stdout.readline()) == [shown_of_old]
        alice.made("gen4.5")
        new = alice.made("flux-2-pro")
        delete(alice, old)
        delete(alice, new)
        written, complaints = program.communicate(timeout=30)
    assert program.returncode == 0, complaints
    seen = [json.loads(line) for line in written.splitlines()]
    assert [jobs for jobs in seen if len(jobs) == 2] == [
        [[new["id"], status], shown_of_old] for status in ("queued", "running", "completed")
    ]
    assert seen[-2:] == [[[new["id"], "completed"]], []]
