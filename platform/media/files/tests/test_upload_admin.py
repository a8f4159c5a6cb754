"""Uploads in the admin: looked at by operators, and taken down with a reason."""

import pytest

from common.ids import uuid7
from conftest import Persona
from media.files.errors import FileGone
from media.files.models import Upload
from media.files.selectors.uploads import read_text
from media.files.tests.forms import File, has_bytes, uploaded
from tests.operators import Operator, audit_of, new_operator

REASON = {"reason": "A court said so"}
PAGE = "files/upload/"


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


def test_an_upload_is_found_by_its_id_and_by_whose_it_is(
    operator: Operator, alice: Persona, bob: Persona
) -> None:
    upload, other = uploaded(alice, File(name="mine.txt")), uploaded(bob, File(name="other.txt"))
    for asked in (upload.pk, alice.user.pk, alice.user.email):
        page = operator.get(f"{PAGE}?q={asked}")
        assert str(upload.pk) in page
        assert str(other.pk) not in page


def test_it_is_taken_down_with_its_bytes_and_stays_in_its_message(
    operator: Operator, alice: Persona
) -> None:
    upload, other = uploaded(alice), uploaded(alice)
    assert "Take down" in operator.get(f"{PAGE}{upload.pk}/change/")
    url = f"{PAGE}{upload.pk}/take_down/"
    assert operator.post(url).status_code == 200  # without a reason
    assert has_bytes(upload)
    assert operator.post(url, **REASON).status_code == 302

    assert not has_bytes(upload)
    assert has_bytes(other)
    upload.refresh_from_db()
    assert upload.taken_down_at is not None
    with pytest.raises(FileGone):
        read_text(upload, limit_characters=10)
    assert audit_of(upload) == ["Taken down. Reason: A court said so"]
    assert "taken down" in operator.get(f"{PAGE}{upload.pk}/change/")


def test_taking_down_twice_is_one_act(operator: Operator, alice: Persona) -> None:
    upload = uploaded(alice)
    for _ in range(2):
        operator.post(f"{PAGE}{upload.pk}/take_down/", **REASON)
    assert len(audit_of(upload)) == 1


def test_uploads_are_never_made_changed_or_deleted_here(operator: Operator, alice: Persona) -> None:
    upload = uploaded(alice)
    assert not operator.is_allowed(f"{PAGE}add/")
    assert operator.post(f"{PAGE}{upload.pk}/change/", name="other").status_code == 403
    assert operator.post(f"{PAGE}{upload.pk}/delete/", post="yes").status_code == 403
    assert Upload.objects.get(pk=upload.pk).name == upload.name


def test_who_may_only_look_cannot_take_down(db: None, alice: Persona) -> None:
    upload = uploaded(alice)
    viewer = new_operator("files.view_upload")
    assert "Take down" not in viewer.get(f"{PAGE}{upload.pk}/change/")
    assert viewer.post(f"{PAGE}{upload.pk}/take_down/", **REASON).status_code == 403
    assert has_bytes(upload)


def test_what_is_no_upload_is_not_there(operator: Operator) -> None:
    assert operator.post(f"{PAGE}{uuid7()}/take_down/", **REASON).status_code == 404
