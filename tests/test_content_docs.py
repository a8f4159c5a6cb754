"""docs/api/content.md: its example runs, its tables and figures are those of the code."""

import json
import os
import re
import subprocess

import pytest

from common import snapshots
from content.flags import FLAGS
from content.models import Entry
from content.models.entries import DEFAULT_LOCALE, MAX_BODY, Text
from content.rendering import REL, SCHEMES, TAGS, render
from content.request_serializers import EntriesQuerySerializer
from content.serializers import EntrySerializer
from content.types import MAX_USERS
from content.viewsets.entries import EntryViewSet
from demo.content import add_entries
from devserver.paths import ROOT
from tests.documents import assert_same, examples, rows, section
from tests.personas import access_token_of, new_user
from tests.service import Web

PAGE = ROOT / "docs" / "api" / "content.md"


def words_of(title: str) -> str:
    return " ".join(section(PAGE, title).split())


def coded(title: str) -> set[str]:
    """What stands between code marks."""
    return set(re.findall(r"`([^`]+)`", section(PAGE, title)))


@pytest.mark.usefixtures("committed")
def test_the_example_is_answered(web: Web) -> None:
    add_entries()
    [example] = examples(section(PAGE, "Endpoints"), "sh")
    token = access_token_of(new_user("alice"))
    try:
        done = subprocess.run(
            ["bash", "-ec", example],
            env={"PATH": os.environ["PATH"], "BASE_URL": web.url, "TOKEN": token},
            check=True,
            capture_output=True,
            text=True,
            timeout=30,
        )
    finally:
        Entry.objects.all().delete()
    defaults = {name: flag.default for name, flag in sorted(FLAGS.items())}
    assert json.dumps({"flags": defaults}, separators=(",", ":")) in done.stdout
    assert '"title":"Boas-vindas"' in done.stdout


def test_every_flag_is_explained_with_its_default() -> None:
    stated = [tuple(row) for row in rows(section(PAGE, "Feature flags"))]
    defined = [
        (flag.name, "on" if flag.default else "off", flag.description) for flag in FLAGS.values()
    ]
    assert_same(stated, defined, "docs/api/content.md, Feature flags")


def test_every_field_and_every_query_is_explained() -> None:
    stated = [row[0] for row in rows(section(PAGE, "Content"))]
    queries = [*EntriesQuerySerializer().fields, "limit`, `before"]
    existing = [*EntrySerializer().fields, *queries]
    assert_same(stated, existing, "docs/api/content.md, Content")


def test_every_kind_and_severity_is_named() -> None:
    assert {*Entry.Kind.values, *Text.Severity.values} <= coded("Content")


def test_the_elements_and_schemes_are_those_that_stay() -> None:
    named = coded("The HTML") - {"javascript:", f'rel="{REL}"'}
    assert_same(named, TAGS | SCHEMES, "docs/api/content.md, The HTML")
    assert f'rel="{REL}"' in coded("The HTML")
    assert render("~~a~~") == "<p><s>a</s></p>"


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Feature flags", f"within {snapshots.MAX_AGE:.0f} seconds"),
        ("Which value counts", f"at most {MAX_USERS:,} users of a flag"),
        ("Content", f"(`Cache-Control: {EntryViewSet.cache_control}`)"),
        ("Content", f"or else in `{DEFAULT_LOCALE}`"),
        ("The HTML", f"at most {MAX_BODY:,} characters"),
    ],
)
def test_a_figure_is_that_of_the_code(title: str, words: str) -> None:
    assert words in words_of(title)
