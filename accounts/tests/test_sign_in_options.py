"""GET /api/auth/options"""

from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from pytest_django import Settings
from rest_framework.test import APIClient

from content.flags import SIGN_UP
from simulator.process import RunningSimulator
from tests.flags import switched

pytestmark = pytest.mark.django_db
URL = "/api/auth/options"


@pytest.fixture
def demo_seeds(settings: Settings, tmp_path: Path) -> Path:
    """Where the demo accounts are allowed; they are not made yet."""
    settings.DEMO_SEEDS, settings.DEMO_FILE = True, tmp_path / "demo.json"
    return settings.DEMO_FILE  # type: ignore[no-any-return]


def options(visitor: APIClient) -> dict[str, Any]:
    answer = visitor.get(URL)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def create_demo(file: Path) -> None:
    call_command("create_demo", "--no-history", write=file, stdout=StringIO())


def test_where_nothing_is_set_up_people_sign_up_with_a_password(
    visitor: APIClient, settings: Settings
) -> None:
    settings.GOOGLE_CLIENT_IDS = []
    assert options(visitor) == {"sign_up": True, "google": None, "demo": None}


def test_a_stale_token_does_no_harm(visitor: APIClient) -> None:
    visitor.credentials(HTTP_AUTHORIZATION="Bearer stale")
    assert options(visitor)["sign_up"] is True


def test_a_closed_sign_up_is_told(visitor: APIClient) -> None:
    with switched(SIGN_UP, on=False):
        assert options(visitor)["sign_up"] is False


# --- Google -------------------------------------------------------------------------------------


def test_people_are_sent_to_google_for_a_token_of_the_first_client(
    visitor: APIClient, settings: Settings
) -> None:
    settings.GOOGLE_CLIENT_IDS = ["web", "mobile"]
    assert options(visitor)["google"] == {
        "authorize_url": "https://accounts.google.com/o/oauth2/v2/auth",
        "client_id": "web",
    }


def test_the_page_that_it_names_makes_a_token_that_signs_in(
    visitor: APIClient, google: RunningSimulator, settings: Settings
) -> None:
    settings.GOOGLE_AUTHORIZE_URL = f"{google.url}/identity/authorize"
    way = options(visitor)["google"]
    form = {
        "client_id": way["client_id"],
        "redirect_uri": "http://localhost/google",
        "nonce": "n",
        "email": "dora@example.com",
    }
    back = httpx.post(way["authorize_url"], data=form).headers["location"]
    id_token = back.partition("#id_token=")[2]
    body = {"id_token": id_token, "nonce": "n"}
    answer = visitor.post("/api/auth/google", body, format="json")
    assert (answer.status_code, answer.json()["user"]["email"]) == (200, "dora@example.com")


# --- The demo user ------------------------------------------------------------------------------


def test_the_demo_user_signs_in_with_what_it_tells(visitor: APIClient, demo_seeds: Path) -> None:
    create_demo(demo_seeds)
    demo = options(visitor)["demo"]
    assert demo.keys() == {"email", "password"}
    answer = visitor.post("/api/auth/login", demo, format="json")
    assert answer.json()["user"]["email"] == "demo@example.com"


@pytest.mark.parametrize("content", [None, "", "{}", '{"email": "demo@example.com"}', "\x00"])
def test_there_is_no_demo_user_before_one_is_made(
    visitor: APIClient, demo_seeds: Path, content: str | None
) -> None:
    if content is not None:
        demo_seeds.write_text(content)
    assert options(visitor)["demo"] is None


@pytest.mark.parametrize(("seeds", "production"), [(False, False), (True, True)])
def test_its_password_is_told_in_development_alone(
    visitor: APIClient, settings: Settings, demo_seeds: Path, *, seeds: bool, production: bool
) -> None:
    create_demo(demo_seeds)
    settings.DEMO_SEEDS, settings.PRODUCTION = seeds, production
    assert options(visitor)["demo"] is None
