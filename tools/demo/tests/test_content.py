"""`manage.py create_demo_content`: the content that `make run` seeds."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings
from rest_framework.test import APIClient

from content.models import Entry

pytestmark = pytest.mark.django_db


def create_demo_content() -> str:
    said = StringIO()
    call_command("create_demo_content", stdout=said)
    return said.getvalue()


def public(visitor: APIClient, locale: str) -> dict[tuple[str, str], Any]:
    entries = visitor.get(f"/api/cms?locale={locale}").json()
    return {(entry["kind"], entry["slug"]): entry for entry in entries}


def test_a_banner_news_and_pages_are_public_in_several_languages(
    settings: Settings, visitor: APIClient
) -> None:
    settings.DEMO_SEEDS = True
    assert create_demo_content() == f"Added {Entry.objects.count()} pages, news and banners.\n"
    found = public(visitor, "de-AT")
    assert found[("banner", "welcome")]["title"] == "Willkommen"
    assert found[("banner", "welcome")]["link"] == {
        "url": "/pages/about",
        "text": "Was das ist",
    }
    assert found[("page", "privacy")]["locale"] == "en"
    assert "<table>" in public(visitor, "en")[("page", "about")]["html"]
    states = {entry.state for entry in Entry.objects.all()}
    assert states == {"draft", "scheduled", "published"}
    assert ("banner", "maintenance") not in found


def test_what_it_tells_of_is_in_the_web_app(settings: Settings, visitor: APIClient) -> None:
    """Its only pages are those of `web/src/routes`, which have no studios and no projects."""
    settings.DEMO_SEEDS = True
    create_demo_content()
    news = [entry["html"] for (kind, _), entry in public(visitor, "en").items() if kind == "news"]
    assert len(news) == 2
    for missing in ("studio", "project", "pull request", "clip"):
        assert not any(missing in html.lower() for html in news)


def test_it_can_be_run_again_and_leaves_what_is_there(settings: Settings) -> None:
    settings.DEMO_SEEDS = True
    create_demo_content()
    Entry.objects.filter(slug="about").delete()
    assert create_demo_content() == ""
    assert not Entry.objects.filter(slug="about").exists()


def test_elsewhere_than_in_development_it_is_refused(settings: Settings) -> None:
    settings.DEMO_SEEDS = False
    with pytest.raises(CommandError):
        create_demo_content()
    assert not Entry.objects.exists()
