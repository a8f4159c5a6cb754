"""Somebody with accounts elsewhere, in a browser and with the web app."""

from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from rest_framework.test import APIClient

from billing.tests.web_app import client_of
from events.models import Event
from integrations.connectors.models import Connector
from integrations.connectors.types import Provider
from simulator.oauth.client import OAuthControl
from simulator.process import RunningSimulator
from tests.personas import new_user

CONNECTORS = "/api/connectors"
# The simulated server of each provider.
SERVERS = {Provider.GITHUB: "github", Provider.GITLAB: "gitlab", Provider.GOOGLE_DRIVE: "google"}


class Owner:
    """A user on the Pro plan; `login` is their name at every provider, and nobody else's."""

    def __init__(self, name: str, simulator: RunningSimulator) -> None:
        self.user = new_user(name, plan="pro")
        self.client = client_of(self.user)
        self.simulator = simulator
        self.login = f"{name}-{uuid4().hex[:12]}"

    @property
    def oauth(self) -> OAuthControl:
        return self.simulator.oauth

    def authorize(self, provider: str, **query: str) -> Any:
        return self.client.get(f"{CONNECTORS}/{provider}/authorize", query)

    def consent(self, provider: str, *, login: str = "", allow: bool = True) -> str:
        """Asked for, decided at the provider: the URL of our callback."""
        url = self.authorize(provider).json()["authorize_url"]
        return self.oauth.consent(url, login=login or self.login, allow=allow)

    def brought_back(self, provider: str, **decision: Any) -> dict[str, str]:
        """What the page of the web app learns of the decision."""
        return learned(follow(self.consent(provider, **decision)))

    def finish(self, **body: Any) -> Any:
        return self.client.post(CONNECTORS, body, format="json")

    def connect(self, provider: str, *, login: str = "") -> Any:
        """The answer to all of it."""
        brought = self.brought_back(provider, login=login)
        return self.finish(state=brought["state"], code=brought["code"])

    def connected(self, provider: str, *, login: str = "") -> Connector:
        answer = self.connect(provider, login=login)
        assert answer.status_code in (200, 201), answer.content
        return Connector.objects.get(pk=answer.json()["id"])

    def disconnect(self, connector: Connector) -> int:
        return self.client.delete(f"{CONNECTORS}/{connector.pk}").status_code

    def get(self, path: str = "", **query: str) -> Any:
        return self.client.get(f"{CONNECTORS}{path}", query)

    def fail(self, provider: str, endpoint: str, **options: Any) -> None:
        self.oauth.fail(SERVERS[Provider(provider)], endpoint, **options)

    def events(self) -> list[str]:
        """The types of the events of the user's own stream."""
        rows = Event.objects.filter(stream_id=self.user.pk).order_by("seq")
        return list(rows.values_list("type", flat=True))


def follow(url: str) -> str:
    """The page on which a callback ends, in a browser that sends no token."""
    parts = urlsplit(url)
    answer = APIClient().get(f"{parts.path}?{parts.query}")
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def learned(page: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
