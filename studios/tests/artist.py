"""Somebody who uses the studios, over HTTP, against the running service and its workers."""

import json
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

import httpx
from PIL import Image

from accounts.models import User
from billing.models import Charge, Wallet
from common.money import NUSD_PER_USD, usd
from events.models import Event
from simulator.process import RunningSimulator
from studios.models import Generation
from tests.personas import access_token_of, new_user
from work.jobs.tests.queueing import wait_until

Job = dict[str, Any]

STUDIOS = {"image": "/api/images", "video": "/api/videos", "3d": "/api/assets-3d/generate"}
# Where the jobs of each kind are listed and deleted.
LISTS = {"image": "/api/images", "video": "/api/videos", "3d": "/api/assets-3d/assets"}
# The models of each kind, and what is named for a short job of each.
MODELS: dict[str, dict[str, Any]] = {
    "gpt-image-2.5-flare": {"kind": "image"},
    "gemini-nano-banana-2.1": {"kind": "image"},
    "flux-2-pro": {"kind": "image"},
    "grok-imagine-image-2.0": {"kind": "image"},
    "veo-3.1": {"kind": "video", "seconds": 4},
    "gen4.5": {"kind": "video", "seconds": 2},
    "ray-2": {"kind": "video", "seconds": 5},
    "meshy-6": {"kind": "3d"},
    "tripo-h3": {"kind": "3d"},
}


@dataclass
class Artist:
    """A user with a balance. What they order is marked, so that the simulator's journal tells their
    calls from everybody else's."""

    user: User
    balance: int
    marker: str
    http: httpx.Client
    simulator: RunningSimulator

    # --- Acting ----------------------------------------------------------------------------------

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {access_token_of(self.user)}"}
        headers |= options.pop("headers", {})
        return self.http.request(method, path, headers=headers, **options)

    def prompt(self, words: str = "A lighthouse at dusk.", **steering: Any) -> str:
        """Words that steer the simulator."""
        return f"{words}\n@sim {json.dumps({'marker': self.marker, **steering})}"

    def post(self, model: str, *, steering: dict[str, Any] | None = None, **body: Any) -> Any:
        """The answer to an order."""
        own = {"prompt": self.prompt(**(steering or {})), "model": model}
        defaults = dict(MODELS[model])
        path = STUDIOS[defaults.pop("kind")]
        return self.send("POST", path, json={**own, **defaults, **body})

    def delete(self, job: Job, **query: Any) -> httpx.Response:
        return self.send("DELETE", f"{LISTS[job['kind']]}/{job['id']}", params=query)

    def order(self, model: str, *, steering: dict[str, Any] | None = None, **body: Any) -> Job:
        """The job of an order that is accepted."""
        answer = self.post(model, steering=steering, **body)
        assert answer.status_code == 202, answer.text
        job: Job = answer.json()
        return job

    def made(self, model: str, *, steering: dict[str, Any] | None = None, **body: Any) -> Job:
        """A job that has ended."""
        return self.ended(self.order(model, steering=steering, **body))

    def upload(self, picture: bytes | None = None, *, name: str = "picture.png") -> str:
        """The id of an uploaded picture."""
        file = (name, picture or a_picture(), "image/png")
        answer = self.send("POST", "/api/uploads", files={"file": file})
        assert answer.status_code == 201, answer.text
        upload_id: str = answer.json()["id"]
        return upload_id

    # --- Seeing ----------------------------------------------------------------------------------

    def job(self, job: Job) -> Job:
        answer = self.send("GET", f"/api/jobs/{job['id']}")
        assert answer.status_code == 200, answer.text
        found: Job = answer.json()
        return found

    def ended(self, job: Job, *, seconds: float = 60) -> Job:
        wait_until(lambda: generation_of(job).ended_at, seconds=seconds)
        return self.job(job)

    def running(self, job: Job) -> Job:
        wait_until(lambda: generation_of(job).status == "running", seconds=30)
        return self.job(job)

    def file(self, url: str) -> bytes:
        """What a signed link leads to, without credentials."""
        path = url.partition("/files/")[2]
        answer = self.http.get(f"/files/{path}")
        assert answer.status_code == 200, answer.text
        return answer.content

    def events(self, job: Job | None = None) -> list[tuple[str, Any]]:
        """The types and data of the events of jobs in the user's stream, all or those of one."""
        rows = Event.objects.filter(stream=self.user.pk, type__startswith="job.").order_by("seq")
        told = [(row.type, json.loads(row.data)) for row in rows]
        return [each for each in told if job is None or job["id"] in str(each[1])]

    # --- Counting --------------------------------------------------------------------------------

    def charge(self, job: Job) -> Charge:
        return Charge.objects.get(pk=job["id"])

    def calls(self) -> list[dict[str, Any]]:
        """What the providers say they were asked."""
        return self.simulator.calls(self.marker)

    def submissions(self) -> list[str]:
        """What became of each order that reached a provider."""
        return [call["outcome"] for call in self.calls()]

    def check_money(self) -> None:
        """Of an idle person: every job has one charge, which has ended, and jobs, charges and
        wallet tell the same amounts."""
        charges = {row.pk: row for row in Charge.objects.filter(account=self.user)}
        for generation in Generation.objects.filter(account=self.user):
            charge = charges[generation.pk]
            if generation.deleted_at is None:
                is_billed = generation.status == "completed"
                assert charge.status == ("settled" if is_billed else "released")
            shown = self.job({"id": str(generation.pk)})["cost_usd"]
            assert shown == usd(charge.charge_plan + charge.charge_balance)
        wallet = Wallet.objects.get(account=self.user)
        assert (wallet.held, wallet.open_charges) == (0, 0)
        billed = sum(charge.charge_balance for charge in charges.values())
        assert self.balance - wallet.balance == billed


def new_artist(
    http: httpx.Client,
    simulator: RunningSimulator,
    *,
    name: str = "alice",
    plan: str = "pro",
    balance_usd: int = 50,
) -> Artist:
    user = new_user(name, plan=plan, balance_usd=balance_usd)
    return Artist(user, balance_usd * NUSD_PER_USD, uuid4().hex, http, simulator)


def a_picture(width: int = 320, height: int = 180, kind: str = "PNG") -> bytes:
    """A picture of one colour."""
    file = BytesIO()
    Image.new("RGB", (width, height), "navy").save(file, kind)
    return file.getvalue()


def generation_of(job: Job) -> Generation:
    return Generation.objects.get(pk=UUID(job["id"]))
