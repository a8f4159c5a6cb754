"""GET /api/cms"""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from common.times import iso_utc
from content.models import Entry
from content.tests.writing import write

pytestmark = pytest.mark.django_db

URL = "/api/cms"
HOUR = timedelta(hours=1)
SOME_ID = "0198c0de-0000-7000-8000-000000000000"


def read(visitor: APIClient, query: str = "") -> list[dict[str, Any]]:
    answer = visitor.get(f"{URL}?{query}")
    assert answer.status_code == 200
    entries: list[dict[str, Any]] = answer.json()
    return entries


def moment(value: datetime | None) -> str | None:
    return None if value is None else iso_utc(value)


def slugs(visitor: APIClient, query: str = "") -> list[str]:
    return [entry["slug"] for entry in read(visitor, query)]


# --- What an entry is ---------------------------------------------------------------------------


def test_a_page_is_answered_whole(visitor: APIClient) -> None:
    page = write("about", title="About us", body="We are **here**.")
    assert read(visitor) == [
        {
            "id": str(page.pk),
            "kind": "page",
            "slug": "about",
            "locale": "en",
            "title": "About us",
            "html": "<p>We are <strong>here</strong>.</p>",
            "severity": None,
            "link": None,
            "published_at": moment(page.publish_at),
            "ends_at": None,
            "updated_at": moment(page.updated_at),
        }
    ]


def test_a_banner_has_a_severity_and_a_link(visitor: APIClient) -> None:
    text = "See the plans"
    write("sale", kind="banner", severity="warning", link_url="/pricing", link_text=text)
    write("hello", kind="banner", priority=-1)
    sale, hello = read(visitor)
    assert (sale["severity"], sale["link"]) == (
        "warning",
        {"url": "/pricing", "text": text},
    )
    assert (hello["severity"], hello["link"]) == ("info", None)


def test_script_in_a_page_comes_out_harmless(visitor: APIClient) -> None:
    write("about", body="Hello<script>alert(1)</script>\n\n[x](javascript:alert(1))")
    [page] = read(visitor)
    assert page["html"] == '<p>Hello</p>\n<p><a rel="noopener nofollow">x</a></p>'


# --- Which entries are public -------------------------------------------------------------------


def test_drafts_and_what_is_not_yet_or_no_longer_public_are_left_out(visitor: APIClient) -> None:
    write("draft", since=None)
    write("later", since=HOUR)
    write("now")
    write("ended", since=-2 * HOUR, unpublish_at=timezone.now() - HOUR)
    assert slugs(visitor) == ["now"]


def test_an_entry_says_when_it_ends(visitor: APIClient) -> None:
    until = timezone.now() + HOUR
    write("news", unpublish_at=until)
    assert [entry["ends_at"] for entry in read(visitor)] == [moment(until)]


# --- Filters ------------------------------------------------------------------------------------


def test_entries_are_found_by_kind_and_by_slug(visitor: APIClient) -> None:
    write("about")
    write("launch", kind="news")
    write("launch", kind="banner")
    assert slugs(visitor, "kind=page") == ["about"]
    assert [entry["kind"] for entry in read(visitor, "slug=launch")] == ["banner", "news"]
    assert [entry["kind"] for entry in read(visitor, "slug=launch&kind=news")] == ["news"]
    assert slugs(visitor, "slug=nothing") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("kind=blog", "kind"),
        ("kind=", "kind"),
        ("kind=page,news", "kind"),
        ("slug=../etc/passwd", "slug"),
        ("slug=a%20b", "slug"),
        ("slug=", "slug"),
        ("slug=%00", "slug"),
        (f"slug={'a' * 101}", "slug"),
        ("locale=e", "locale"),
        ("locale=", "locale"),
        ("locale=en_US", "locale"),
        ("locale=x", "locale"),
        ("locale=%E2%80%AEen", "locale"),
        ("locale=en%00", "locale"),
        ("locale=en%0Ade", "locale"),
        (f"locale={'a' * 300}", "locale"),
        (f"locale={'a-' * 3_000}b", "locale"),
        ("locale=en-", "locale"),
        ("locale=en'--", "locale"),
        (f"locale={'-'.join(['abcdefgh'] * 5)}", "locale"),
        ("limit=0", "limit"),
        ("limit=many", "limit"),
        ("before=me", "before"),
        ("before=00000000-0000-4000-8000-000000000000", "before"),
        ("place=a", "place"),
        ("place=1~2~3", "place"),
        (f"place=0~9999-12-31T23:59:59-23:59~{SOME_ID}", "place"),
        (f"place=0~0001-01-01T00:00:00%2B23:59~{SOME_ID}", "place"),
    ],
)
def test_a_query_that_is_none_is_refused(visitor: APIClient, query: str, field: str) -> None:
    answer = visitor.get(f"{URL}?{query}")
    assert answer.status_code == 422
    assert answer.json()["code"] == "validation_failed"
    assert answer.json()["errors"][0]["loc"] == [field]
    assert "cache-control" not in answer.headers  # a refusal is kept nowhere


@pytest.mark.parametrize("since", [None, HOUR], ids=["draft", "scheduled"])
def test_what_is_not_public_is_known_by_nothing(
    visitor: APIClient, since: timedelta | None
) -> None:
    write("about")
    url = f"{URL}?slug=launch&locale=pt-BR&kind=news"
    before = [visitor.get(URL), visitor.get(url)]
    hidden = write("launch", kind="news", locale="pt-BR", since=since)

    after = [visitor.get(URL), visitor.get(url)]

    assert [each.content for each in after] == [each.content for each in before]
    assert [each["ETag"] for each in after] == [each["ETag"] for each in before]
    # Nor where it would stand in the list.
    named, unknown = (visitor.get(f"{URL}?before={each}") for each in (hidden.pk, SOME_ID))
    assert named.status_code == 422
    assert named.json()["errors"] == unknown.json()["errors"]


# --- Languages ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("pt-BR", "pt-BR"),
        ("pt-br", "pt-BR"),
        ("PT-br", "pt-BR"),
        ("pt-PT", "pt"),
        ("pt-BR-abl1943", "pt-BR"),
        ("pt", "pt"),
        ("de", "en"),
        ("", "en"),
    ],
)
def test_an_entry_is_answered_in_the_nearest_language(
    visitor: APIClient, asked: str, answered: str
) -> None:
    for locale in ("en", "pt", "pt-BR"):
        write("about", locale=locale)
    assert [entry["locale"] for entry in read(visitor, f"locale={asked}" if asked else "")] == [
        answered
    ]


def test_each_entry_falls_back_by_itself(visitor: APIClient) -> None:
    for slug, locales in {"one": ["en", "pt"], "two": ["en"], "three": ["de"]}.items():
        for locale in locales:
            write(slug, locale=locale)
    found = {entry["slug"]: entry["locale"] for entry in read(visitor, "locale=pt-BR")}
    assert found == {"one": "pt", "two": "en"}


def test_a_translation_that_is_not_public_is_passed_over(visitor: APIClient) -> None:
    write("about", locale="en")
    write("about", locale="pt", since=None)
    assert [entry["locale"] for entry in read(visitor, "locale=pt")] == ["en"]


# --- Order and pages ----------------------------------------------------------------------------


def test_high_priorities_come_first_and_then_the_newest(visitor: APIClient) -> None:
    write("old", since=-9 * HOUR)
    write("new", since=-1 * HOUR)
    write("middle", since=-5 * HOUR)
    write("first", since=-99 * HOUR, priority=1)
    write("last", since=-1 * HOUR, priority=-1)
    assert slugs(visitor) == ["first", "new", "middle", "old", "last"]


def test_pages_follow_each_other_by_their_links(visitor: APIClient) -> None:
    for number in range(5):
        write(f"page-{number}", since=-number * HOUR - HOUR, priority=number % 2)
    path, seen = f"{URL}?limit=2&kind=page&locale=pt", []
    while path:
        answer = visitor.get(path)
        seen += [entry["slug"] for entry in answer.json()]
        link = re.fullmatch(r'<([^>]+)>; rel="next"', answer.headers.get("Link", ""))
        path = link[1] if link else ""
    assert seen == slugs(visitor)
    assert len(seen) == 5


def test_a_page_begins_behind_the_entry_that_is_named(visitor: APIClient) -> None:
    first, second = write("first", since=-HOUR), write("second", since=-2 * HOUR)
    assert slugs(visitor, f"before={first.pk}") == ["second"]
    assert slugs(visitor, f"before={second.pk}") == []


def test_pages_go_on_where_they_ended_although_entries_are_edited(visitor: APIClient) -> None:
    first, last, second, third = (
        write(f"page-{number}", since=-number * HOUR - HOUR) for number in range(4)
    )
    answer = visitor.get(f"{URL}?limit=2")
    assert [each["slug"] for each in answer.json()] == [first.slug, last.slug]
    # The last one of the page is a draft again, and one moves to the front.
    Entry.objects.filter(pk=last.pk).update(publish_at=None)
    Entry.objects.filter(pk=third.pk).update(priority=1)
    link = re.fullmatch(r'<([^>]+)>; rel="next"', answer.headers["Link"])
    assert link
    assert [each["slug"] for each in visitor.get(link[1]).json()] == [second.slug]


@pytest.mark.parametrize(
    "place", ["9" * 30 + "~2026-01-01T00:00:00Z", "0~2026-01-01", "0~2026-01-01T00:00:00%2B15:59"]
)
def test_any_place_is_one(visitor: APIClient, place: str) -> None:
    write("about")
    assert len(slugs(visitor, f"place={place}~{SOME_ID}")) <= 1


def test_a_list_is_one_query_however_long_it_is(visitor: APIClient) -> None:
    for count in (1, 20):
        for number in range(count):
            write(f"page-{count}-{number}")
        with CaptureQueriesContext(connection) as captured:
            read(visitor, "locale=pt-BR&limit=15")
        assert len(captured) == 1


# --- Everybody, and their caches ----------------------------------------------------------------


def test_nobody_needs_to_sign_in_and_stale_tokens_do_no_harm() -> None:
    write("about")
    for headers in ({}, {"Authorization": "Bearer expired"}, {"Authorization": "nonsense"}):
        assert APIClient().get(URL, headers=headers).status_code == 200


def test_it_may_be_kept_for_a_minute_by_any_cache(visitor: APIClient) -> None:
    write("about")
    answer = visitor.get(URL)
    assert answer["Cache-Control"] == "public, max-age=60"
    assert not answer.cookies

    again = visitor.get(URL, headers={"If-None-Match": answer["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == answer["ETag"]
    assert again["Cache-Control"] == answer["Cache-Control"]


def test_a_change_is_sent_again(visitor: APIClient) -> None:
    page = write("about")
    tag = visitor.get(URL)["ETag"]
    Entry.objects.filter(pk=page.pk).update(title="Other")
    assert visitor.get(URL, headers={"If-None-Match": tag}).status_code == 200


def test_what_begins_and_ends_by_itself_is_sent_again(visitor: APIClient) -> None:
    entry = write("sale", since=HOUR, unpublish_at=timezone.now() + 3 * HOUR)
    tags = [visitor.get(URL)["ETag"]]
    for _ in range(2):
        # Two hours pass.
        moved = {"publish_at": F("publish_at"), "unpublish_at": F("unpublish_at")}
        later = {name: value - 2 * HOUR for name, value in moved.items()}
        Entry.objects.filter(pk=entry.pk).update(**later)
        answer = visitor.get(URL, headers={"If-None-Match": tags[-1]})
        assert answer.status_code == 200
        tags.append(answer["ETag"])
    assert tags[0] == tags[2] != tags[1]


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_changed_here(visitor: APIClient, method: str) -> None:
    assert getattr(visitor, method)(URL, {}, format="json").status_code == 405
