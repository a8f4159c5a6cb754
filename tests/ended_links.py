"""The acts of an owner that end links to files, and what a link answers."""

from collections.abc import Callable
from urllib.parse import urlsplit

from rest_framework.test import APIClient

from accounts.services import users
from conftest import PASSWORD, Persona

Act = Callable[[Persona], None]


def sign_out(persona: Persona) -> None:
    assert persona.client.post("/api/auth/logout").status_code == 204


def change_the_password(persona: Persona) -> None:
    body = {"current_password": PASSWORD, "new_password": "another correct horse battery"}
    answer = persona.client.post("/api/auth/change-password", body, format="json")
    assert answer.status_code == 200, answer.json()


def close_the_account(persona: Persona) -> None:
    users.deactivate(user=persona.user)


def be_suspended(persona: Persona) -> None:
    users.suspend(user=persona.user)


def answer_of(url: str) -> tuple[int, str]:
    """The status of a link without credentials, and the sentence of a refusal."""
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}"
    # An answer with the file is a stream, which only a server reads.
    if APIClient().head(path).status_code == 200:
        return 200, ""
    response = APIClient().get(path)
    return response.status_code, response.json()["detail"]
