"""Links to results end when their owner signs out everywhere; the next read has new ones."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from rest_framework.test import APIClient

from conftest import Persona
from media.files.models import StoredFile
from media.files.types import storage_path
from studios.models import Generation, GenerationOutput
from tests.ended_links import (
    Act,
    answer_of,
    be_suspended,
    change_the_password,
    close_the_account,
    sign_out,
)
from tests.personas import access_token_of

GONE = (404, "This file is no longer kept.")
ENDED = (
    403,
    "This link has ended, because its owner has signed out. Sign in and ask for another.",
)


def made_by(persona: Persona) -> Generation:
    """A picture that is in the storage, with its thumbnail."""
    file, thumbnail = (
        StoredFile.objects.create(account=persona.user, media_type="image/png", size=3)
        for _ in range(2)
    )
    for each in (file, thumbnail):
        storages["outputs"].save(storage_path(each.name), ContentFile(b"PNG"))
    job = Generation.objects.create(
        account=persona.user, kind="image", model="m", status="completed"
    )
    GenerationOutput.objects.create(
        generation=job, position=0, file=file, thumbnail=thumbnail, width=1, height=1
    )
    return job


def links_of(persona: Persona, job: Generation) -> list[str]:
    """As the job shows them now."""
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {access_token_of(persona.user)}")
    [output] = client.get(f"/api/jobs/{job.pk}").json()["outputs"]
    return [output["url"], output["thumbnail_url"]]


@pytest.mark.parametrize(
    ("act", "answer"),
    [
        (sign_out, ENDED),
        (change_the_password, ENDED),
        (close_the_account, GONE),
        (be_suspended, GONE),
    ],
)
def test_links_end_with_the_tokens_of_their_owner(
    alice: Persona, act: Act, answer: tuple[int, str]
) -> None:
    links = links_of(alice, made_by(alice))
    assert [answer_of(link)[0] for link in links] == [200, 200]
    act(alice)
    assert [answer_of(link) for link in links] == [answer, answer]


def test_after_signing_in_again_the_job_has_links_that_work(alice: Persona) -> None:
    job = made_by(alice)
    before = links_of(alice, job)
    sign_out(alice)
    alice.user.refresh_from_db()
    after = links_of(alice, job)
    assert not {*before} & {*after}
    assert [answer_of(link)[0] for link in after] == [200, 200]


def test_what_others_do_ends_no_link(alice: Persona, bob: Persona) -> None:
    links = links_of(alice, made_by(alice))
    close_the_account(bob)
    assert [answer_of(link)[0] for link in links] == [200, 200]


@pytest.mark.parametrize("version", ["", "2", "0", "-1", "x", "1:1"])
def test_the_version_of_a_link_cannot_be_changed(alice: Persona, version: str) -> None:
    link, _ = links_of(alice, made_by(alice))
    parts = urlsplit(link)
    query = {name: value for name, [value] in parse_qs(parts.query).items()} | {"version": version}
    assert answer_of(f"{parts.path}?{urlencode(query)}")[0] == 403
