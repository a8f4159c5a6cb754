"""Pages, news and banners in the operators' admin: edited, previewed, restored."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from content.models import Entry, Revision
from content.services import entries
from content.tests.writing import write
from tests.operators import Operator, audit_of, new_operator

pytestmark = pytest.mark.django_db

PAGE = "content/entry/"
EMPTY = {"severity": "", "link_url": "", "link_text": "", "priority": "0"}
NEVER = {f"{name}_{part}": "" for name in ("publish_at", "unpublish_at") for part in ("0", "1")}
NO_ROWS = {"revisions-TOTAL_FORMS": "0", "revisions-INITIAL_FORMS": "0"}
NEW = {"kind": "page", "slug": "about", "locale": "en", "title": "About", "body": "We."}


def form(**values: str) -> dict[str, str]:
    return {**EMPTY, **NEVER, **NO_ROWS, **values}


def add(operator: Operator, **values: str) -> Any:
    return operator.post(f"{PAGE}add/", **form(**{**NEW, **values}))


def edit(operator: Operator, entry: Entry, **values: str) -> Any:
    now = {name: str(value) for name, value in entry.texts().items()}
    return operator.post(f"{PAGE}{entry.pk}/change/", **form(**{**now, **values}))


def since(entry: Entry) -> list[str]:
    """The bodies of its revisions, the earliest first."""
    return list(entry.revisions.order_by("pk").values_list("body", flat=True))


# --- Editing ------------------------------------------------------------------------------------


def test_a_draft_is_written_and_published(operator: Operator, visitor: APIClient) -> None:
    assert add(operator, locale="pt-br").status_code == 302
    entry = Entry.objects.get()
    assert (entry.state, entry.locale) == ("draft", "pt-BR")
    assert visitor.get("/api/cms?locale=pt-BR").json() == []

    begun = {"publish_at_0": "2026-01-01", "publish_at_1": "08:00:00"}
    assert edit(operator, entry, **begun).status_code == 302
    [shown] = visitor.get("/api/cms?locale=pt-BR").json()
    assert shown["published_at"] == "2026-01-01T08:00:00.000000Z"


def test_every_text_is_kept_as_a_revision(operator: Operator) -> None:
    add(operator)
    entry = Entry.objects.get()
    edit(operator, entry, body="We two.")
    edit(operator, entry, body="We two.", priority="5")  # no new text
    edit(operator, entry, body="We three.", priority="5")
    assert since(entry) == ["We.", "We two.", "We three."]
    assert set(entry.revisions.values_list("author", flat=True)) == {operator.user.pk}


def test_the_audit_log_tells_what_was_changed_but_no_long_texts(operator: Operator) -> None:
    entry = write("about", since=None, body="We.")
    edit(operator, entry, body="We two.", title="Us")
    edit(operator, entry, body="We two.", title="Us", priority="3")
    assert audit_of(entry) == [
        "Priority: 0 → 3",
        "Title: About → Us; Body: see the revisions",
    ]


def test_what_an_entry_is_known_by_stays(operator: Operator) -> None:
    entry = write("about")
    edit(operator, entry, slug="other", kind="news", locale="de")
    entry.refresh_from_db()
    assert (entry.kind, entry.slug, entry.locale) == ("page", "about", "en")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"slug": "../x"}, "Enter a valid “slug”"),
        ({"slug": ""}, "This field is required"),
        ({"kind": "blog"}, "Select a valid choice"),
        ({"locale": "en_US"}, "Write a language tag like en or pt-BR."),
        ({"title": ""}, "This field is required"),
        ({"body": "x" * 20_001}, "at most 20000 characters"),
        ({"severity": "info"}, "Only banners have a severity and a link."),
        ({"link_url": "/x", "link_text": "x"}, "Only banners have a severity and a link."),
        ({"kind": "banner", "link_url": "/x"}, "A link needs an address and a text."),
        ({"kind": "banner", "link_url": "javascript:x", "link_text": "x"}, "Enter a valid URL"),
        ({"kind": "banner", "link_url": "//x.example", "link_text": "x"}, "Enter a valid URL"),
        ({"kind": "banner", "link_url": "/\\x.example", "link_text": "x"}, "Enter a valid URL"),
        ({"unpublish_at_0": "2030-01-01", "unpublish_at_1": "00:00"}, "needs a beginning"),
        (
            {
                "publish_at_0": "2030-01-02",
                "publish_at_1": "00:00",
                "unpublish_at_0": "2030-01-01",
                "unpublish_at_1": "00:00",
            },
            "An entry ends after it begins",
        ),
        ({"publish_at_0": "soon", "publish_at_1": "00:00"}, "Enter a valid date"),
        ({"priority": "40000"}, "less than or equal to 32767"),
    ],
)
def test_a_slip_is_refused_on_the_form(
    operator: Operator, values: dict[str, str], problem: str
) -> None:
    answer = add(operator, **values)
    assert answer.status_code == 200
    assert problem in answer.content.decode()
    assert not Entry.objects.exists()


def test_one_entry_has_one_text_in_each_language(operator: Operator) -> None:
    write("about", locale="pt-BR")
    assert (
        "There is such an entry in this language." in add(operator, locale="pt-br").content.decode()
    )
    assert add(operator, locale="pt").status_code == 302


def test_the_list_tells_the_state_of_each_entry(operator: Operator) -> None:
    day = timedelta(days=1)
    write("one", since=None)
    write("two", since=day)
    write("three")
    write("four", since=-2 * day, unpublish_at=timezone.now() - day)
    shown = operator.get(PAGE).lower()
    for state in ("draft", "scheduled", "published", "ended"):
        assert state in shown


# --- Preview ------------------------------------------------------------------------------------


def test_a_draft_is_shown_as_it_would_look_and_harmless(operator: Operator) -> None:
    entry = write("about", since=None, body="We are **here**.<script>alert('x')</script>")
    page = operator.get(f"{PAGE}{entry.pk}/preview/")
    assert "<p>We are <strong>here</strong>.</p>" in page
    assert "alert(" not in page


def test_a_title_is_shown_as_text(operator: Operator) -> None:
    entry = write("about", title="<script>alert(1)</script>")
    for path in ("", f"{entry.pk}/change/", f"{entry.pk}/preview/"):
        assert "<script>alert(1)" not in operator.get(f"{PAGE}{path}")


def test_a_preview_is_for_operators_who_may_look_at_entries(visitor: APIClient) -> None:
    path = f"{PAGE}{write('about', since=None).pk}/preview/"
    assert visitor.get(f"/admin/{path}").status_code == 302  # to the sign-in
    assert not new_operator("catalog.view_aimodel").is_allowed(path)
    viewer = new_operator("content.view_entry")
    assert "About" in viewer.get(path)
    assert viewer.client.get(f"/admin/{PAGE}nothing/preview/").status_code == 404


# --- Revisions ----------------------------------------------------------------------------------


def test_a_revision_is_restored_as_a_new_one(operator: Operator) -> None:
    entry = write("about", body="We.")
    published = entry.publish_at
    entry.body = "We two."
    entries.save(entry=entry, author_id=None)
    first = entry.revisions.earliest("pk")
    path = f"{PAGE}{entry.pk}/restore/"

    assert operator.post(path, revision=first.pk, reason="a slip").status_code == 302

    entry.refresh_from_db()
    assert entry.body == "We."
    assert since(entry) == ["We.", "We two.", "We."]
    assert entry.revisions.latest("pk").author == operator.user
    moment = f"{first.created_at:%Y-%m-%d %H:%M:%S}"
    assert audit_of(entry)[0] == f"Restored the text of {moment} UTC. Reason: a slip"
    assert entry.publish_at == published


def test_the_text_of_now_is_not_restored_again(operator: Operator) -> None:
    entry = write("about")
    operator.post(f"{PAGE}{entry.pk}/restore/", revision=entry.revisions.get().pk, reason="x")
    assert entry.revisions.count() == 1
    assert audit_of(entry) == []


def test_a_revision_of_another_entry_cannot_be_restored(operator: Operator) -> None:
    entry, other = write("about", body="We."), write("other", body="They.")
    answer = operator.post(
        f"{PAGE}{entry.pk}/restore/", revision=other.revisions.get().pk, reason="x"
    )
    assert "Select a valid choice" in answer.content.decode()
    assert since(entry) == ["We."]


def test_revisions_are_looked_at_and_never_changed(operator: Operator) -> None:
    revision = write("about", body="We are **here**.").revisions.get()
    path = f"content/revision/{revision.pk}"
    assert f'href="/admin/{path}/change/"' in operator.get(f"{PAGE}{revision.entry_id}/change/")
    assert "<strong>here</strong>" in operator.get(f"{path}/change/")
    assert str(revision.entry) in operator.get("content/revision/")
    assert not operator.is_allowed(f"{path}/delete/")
    assert operator.post(f"{path}/change/", body="x").status_code == 403


def test_who_may_only_look_changes_nothing() -> None:
    viewer = new_operator("content.view_entry", "content.view_revision")
    entry = write("about", body="We.")
    assert "Restore" not in viewer.get(f"{PAGE}{entry.pk}/change/")
    assert edit(viewer, entry, body="x").status_code == 403
    assert not viewer.is_allowed(f"{PAGE}{entry.pk}/restore/")


# --- Deleting -----------------------------------------------------------------------------------


def test_only_a_draft_is_deleted_with_its_revisions(operator: Operator) -> None:
    public, draft = write("about"), write("other", since=None)
    assert not operator.is_allowed(f"{PAGE}{public.pk}/delete/")
    assert operator.post(f"{PAGE}{draft.pk}/delete/", post="yes").status_code == 302
    assert Entry.objects.get() == public
    assert Revision.objects.get().entry == public


def test_lists_have_no_way_to_delete_several(operator: Operator) -> None:
    entry = write("about")
    operator.post(PAGE, action="delete_selected", _selected_action=str(entry.pk), post="yes")
    assert Entry.objects.exists()
