"""A customer of `/v1`: somebody with a key, who calls the running service and counts the money."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any
from uuid import uuid4

import httpx
import psutil
from django.utils import timezone

from accounts.features import KeyFeature
from accounts.models import ApiKey, User
from billing.models import Allowance, Charge, KeyMonth, LedgerEntry, Wallet
from billing.services.balance import change_plan
from common.money import NUSD_PER_USD
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.hanging_up import sent
from tests.personas import access_token_of, new_key, new_user
from tests.service import Web

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
IMAGES = "/v1/images/generations"

EMBEDDING = "text-embedding-3-small"
# Max grants an allowance for it.
IMAGE = "gpt-image-2.5-flare"
# No plan has an allowance for it.
BALANCE_ONLY_IMAGE = "flux-2-pro"
# Max grants an allowance for it.
IN_PLAN = "gpt-6-luna"
# No plan has an allowance for it: every call is paid from the balance, at twice the cost.
BALANCE_ONLY = "kimi-k3"
# The test service has no key of its provider.
NOT_CONFIGURED = "mistral-medium-3.5"


@dataclass(frozen=True)
class Upload:
    """The answer to a huge body, and how many bytes the process grew meanwhile."""

    response: httpx.Response
    growth: int


@dataclass
class Customer:
    """A user on a plan, their key, and the service they call. What they ask is marked, so that
    the simulator's journal tells their calls from everybody else's."""

    user: User
    key: ApiKey
    raw_key: str
    balance: int
    marker: str
    http: httpx.Client
    web: Web
    simulator: RunningSimulator

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.raw_key}"}

    def prompt(self, question: str = "How are you?", /, **steering: Any) -> str:
        """A question that steers the simulator."""
        return f"{question}\n@sim {json.dumps({'marker': self.marker, **steering})}"

    def body(self, *, steer: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """The body of a chat call. Any field can be given, `messages` too."""
        message = {"role": "user", "content": self.prompt(**(steer or {"tokens": 3}))}
        return {"model": IN_PLAN, "messages": [message], **fields}

    def chat(self, *, steer: dict[str, Any] | None = None, **fields: Any) -> httpx.Response:
        """A chat call, read to its end."""
        return self.post(json=self.body(steer=steer, **fields))

    def embed(
        self, *texts: str, steer: dict[str, Any] | None = None, **fields: Any
    ) -> httpx.Response:
        """Embeddings of a marked text and `texts` after it. Any field can be given, `input` too."""
        inputs = [self.prompt(**(steer or {})), *texts]
        return self.post(EMBEDDINGS, json={"model": EMBEDDING, "input": inputs, **fields})

    def draw(self, *, steer: dict[str, Any] | None = None, **fields: Any) -> httpx.Response:
        """Pictures to a marked prompt. Any field can be given."""
        prompt = self.prompt("A red boat.", **(steer or {}))
        return self.post(IMAGES, json={"model": IMAGE, "prompt": prompt, **fields})

    def post(
        self, path: str = CHAT, *, headers: dict[str, str] | None = None, **request: Any
    ) -> httpx.Response:
        """A POST with the key; httpx's own keywords."""
        return self.http.post(path, headers={**self.headers, **(headers or {})}, **request)

    def chat_with(self, raw_key: str) -> httpx.Response:
        """A chat call with another key."""
        return self.post(json=self.body(), headers={"Authorization": f"Bearer {raw_key}"})

    def upload(
        self,
        megabytes: int,
        *,
        announced: bool,
        path: str = CHAT,
        headers: dict[str, str] | None = None,
    ) -> "Upload":
        """Send a huge body, and watch the memory of the web process while it is taken."""
        process = psutil.Process(self.web.process.pid)
        before = largest = process.memory_info().rss

        def body() -> Iterator[bytes]:
            nonlocal largest
            for _ in range(megabytes):
                yield b"a" * 1_000_000
                largest = max(largest, process.memory_info().rss)

        sent = dict(headers or {})
        if announced:
            sent["Content-Length"] = str(megabytes * 1_000_000)
        response = self.post(path, content=body(), headers=sent)
        return Upload(response, largest - before)

    def hang_up_and_wait(self, path: str, body: dict[str, Any]) -> None:
        """Hang up once the provider is asked, on a stream once it has begun, and wait until the
        charge is settled."""
        with sent(
            self.http.build_request("POST", path, json=body, headers=self.headers)
        ) as connection:
            wait_for(self.provider_calls)
            if body.get("stream"):
                connection.getresponse().read(1)
        wait_for(lambda: [charge.status for charge in self.charges()] == ["settled"])

    def revoke(self) -> None:
        """Take the key away."""
        ApiKey.objects.filter(pk=self.key.pk).update(revoked_at=timezone.now())

    def suspend(self) -> None:
        User.objects.filter(pk=self.user.pk).update(status=User.Status.SUSPENDED)

    def reinstate(self) -> None:
        User.objects.filter(pk=self.user.pk).update(status=User.Status.ACTIVE)

    def get(self, path: str) -> httpx.Response:
        return self.http.get(path, headers=self.headers)

    def manage(self, method: str, path: str = "", **fields: Any) -> httpx.Response:
        """A call to `/api/keys`, signed in; `fields` are its body."""
        token = access_token_of(self.user)
        headers = {"Authorization": f"Bearer {token}"}
        return self.http.request(method, f"/api/keys{path}", json=fields, headers=headers)

    def change_key(self, **fields: Any) -> None:
        """Change the key by `PATCH /api/keys/{id}`."""
        response = self.manage("PATCH", f"/{self.key.pk}", **fields)
        assert response.status_code == 200, response.text

    def move_to(self, plan: str) -> None:
        change_plan(account=self.user, plan=plan, forced=True)

    def provider_calls(self) -> list[dict[str, Any]]:
        """What the provider says it was asked."""
        return self.simulator.calls(self.marker)

    def provider_call(self) -> dict[str, Any]:
        """The one call that the provider got."""
        [call] = self.provider_calls()
        return call

    def charges(self) -> list[Charge]:
        return list(Charge.objects.filter(account=self.user))

    def charge(self) -> Charge:
        """The one charge of this account."""
        [charge] = self.charges()
        return charge

    def spent_of_balance(self) -> int:
        """Nano-USD gone from the balance."""
        wallet = Wallet.objects.get(account=self.user)
        assert (wallet.held, wallet.open_charges) == (0, 0)
        return self.balance - wallet.balance

    def spent_of_plan(self, model: str = IN_PLAN) -> int:
        """Nano-USD gone from the plan's allowance for a model."""
        rows = list(Allowance.objects.filter(account=self.user, model_id=model))
        assert sum(row.held for row in rows) == 0
        return sum(row.used for row in rows)

    def listed_cost(
        self, model: str, tokens_in: int, tokens_out: int, cached_tokens: int = 0
    ) -> int:
        """Nano-USD that the public price list says so many tokens cost. `cached_tokens` of the
        input came from the provider's cache."""
        pricing = self.http.get(f"/v1/models/{model}").json()["pricing"]
        plain, cached, output = (pricing[f"effective_{part}_per_1m_usd"] for part in _PARTS)
        rates = (plain, plain if cached is None else cached, output)
        counts = (tokens_in - cached_tokens, cached_tokens, tokens_out)
        costs = (Decimal(str(rate)) * n for rate, n in zip(rates, counts, strict=True))
        usd = sum(costs, Decimal()) / 1_000_000
        return int((usd * NUSD_PER_USD).to_integral_value(ROUND_CEILING))

    def assert_nothing_billed(self) -> None:
        """No money moved, none is held, and the key has spent nothing."""
        assert self.spent_of_balance() == 0
        assert not LedgerEntry.objects.filter(account=self.user, kind="charge").exists()
        assert not Allowance.objects.filter(account=self.user).exclude(used=0, held=0).exists()
        assert not KeyMonth.objects.filter(api_key=self.key).exclude(billed=0, held=0).exists()
        assert all(charge.status == "released" for charge in self.charges())


_PARTS = ("input", "cached_input", "output")


def new_customer(
    http: httpx.Client,
    web: Web,
    simulator: RunningSimulator,
    *,
    name: str = "alice",
    plan: str = "max",
    balance_usd: int = 10,
    cap: int | None = None,
    models: tuple[str, ...] = (),
    features: tuple[KeyFeature, ...] = (),
) -> Customer:
    """Somebody new. `cap` is nano-USD, `models` the key's allow-list."""
    user = new_user(name, plan=plan, balance_usd=balance_usd)
    key, raw_key = new_key(user, cap=cap, models=models, features=features)
    balance = balance_usd * NUSD_PER_USD
    return Customer(user, key, raw_key, balance, uuid4().hex, http, web, simulator)
