"""GET /api/connectors/{id}/files and POST .../import: files of Google Drive."""

from typing import Any

import pytest
from pytest_django import Settings

from common.multipart import MAX_FILE_BYTES
from integrations.connectors.models import Connector
from integrations.connectors.tests.owner import CONNECTORS, Owner
from media.files.models import Upload
from simulator.drive.client import DriveControl

TEXT = "The sea is blue.\n"


@pytest.fixture(autouse=True)
def stored(settings: Settings, tmp_path: Any) -> None:
    uploads = {**settings.STORAGES["uploads"], "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "uploads": uploads}


@pytest.fixture
def drive(alice: Owner) -> Connector:
    return alice.connected("google_drive")


def add(owner: Owner, name: str, content: bytes | str = TEXT, **options: Any) -> str:
    control: DriveControl = owner.simulator.drive
    return control.add_file(owner.login, name, content, **options)


def imported(owner: Owner, drive: Connector, file_id: Any) -> Any:
    path = f"{CONNECTORS}/{drive.pk}/import"
    return owner.client.post(path, {"file_id": file_id}, format="json")


def listed(owner: Owner, drive: Connector, **query: str) -> list[str]:
    answer = owner.get(f"/{drive.pk}/files", **query)
    assert answer.status_code == 200, answer.content
    return [each["name"] for each in answer.json()]


def test_files_are_listed_the_latest_changed_first(alice: Owner, drive: Connector) -> None:
    add(alice, "plan", google_type="document", modified_at=2_000_000_000)
    file_id = add(alice, "sea.txt", modified_at=1_900_000_000)
    add(alice, "folder", "", google_type="folder")
    add(alice, "thrown-away.txt", trashed=True)
    newest, first = alice.get(f"/{drive.pk}/files").json()
    assert newest["name"] == "plan"
    assert first == {
        "id": file_id,
        "name": "sea.txt",
        "mime": "text/plain",
        "size": len(TEXT),
        "modified_at": "2030-03-17T17:46:40.000000Z",
    }


@pytest.mark.parametrize("query", ["it's", 'a "b"', "back\\slash", "ü"])
def test_a_name_is_searched_as_it_is_written(alice: Owner, drive: Connector, query: str) -> None:
    add(alice, f"{query}.txt")
    add(alice, "other.txt")
    assert listed(alice, drive, q=query) == [f"{query}.txt"]
    assert listed(alice, drive, q="' or name != '") == []


def test_more_files_are_on_the_next_page(alice: Owner, drive: Connector) -> None:
    for number in range(60):
        add(alice, f"{number}.txt")
    first = alice.get(f"/{drive.pk}/files")
    [url] = [part.strip("<> ") for part in first["Link"].split(";") if "http" in part]
    second = alice.client.get(url)
    assert (len(first.json()), len(second.json())) == (50, 10)
    assert "Link" not in second
    names = {each["name"] for each in [*first.json(), *second.json()]}
    assert len(names) == 60


def test_a_file_becomes_an_upload(alice: Owner, drive: Connector) -> None:
    answer = imported(alice, drive, add(alice, "sea.txt"))
    assert answer.status_code == 201
    upload = answer.json()
    assert {name: upload[name] for name in ("name", "mime", "size", "readable")} == {
        "name": "sea.txt",
        "mime": "text/plain",
        "size": len(TEXT),
        "readable": True,
    }
    assert alice.client.get(f"/api/uploads/{upload['id']}").json() == upload


@pytest.mark.parametrize(
    ("google_type", "name"),
    [("document", "plan.md"), ("spreadsheet", "plan.csv"), ("presentation", "plan.txt")],
)
def test_a_document_of_the_editors_is_converted(
    alice: Owner, drive: Connector, google_type: str, name: str
) -> None:
    answer = imported(alice, drive, add(alice, "plan", google_type=google_type))
    assert (answer.status_code, answer.json()["name"]) == (201, name)


def test_a_form_has_nothing_to_import(alice: Owner, drive: Connector) -> None:
    answer = imported(alice, drive, add(alice, "ask", google_type="form"))
    assert answer.status_code == 422
    assert "A form of Google has no content" in answer.json()["detail"]


def test_a_file_that_is_too_large_is_422(alice: Owner, drive: Connector) -> None:
    answer = imported(alice, drive, add(alice, "big.bin", b"\0" * (MAX_FILE_BYTES + 1)))
    assert answer.status_code == 422
    assert f"longer than {MAX_FILE_BYTES:,} bytes" in answer.json()["detail"]
    assert not Upload.objects.filter(account_id=alice.user.pk).exists()
    # It is not fetched for nothing.
    assert alice.oauth.requests()[-1]["endpoint"] == "file"


@pytest.mark.parametrize("file_id", ["unknown", "../about", "a/b?alt=media#", "\0", "", 7, None])
def test_a_file_that_is_not_there_is_not_imported(
    alice: Owner, drive: Connector, file_id: Any
) -> None:
    assert imported(alice, drive, file_id).status_code in (400, 404, 422)


def test_the_files_of_others_are_not_reached(alice: Owner, bob: Owner, drive: Connector) -> None:
    assert imported(alice, drive, add(bob, "secret.txt")).status_code == 404
    assert listed(alice, drive) == []


def test_a_connector_of_repositories_has_no_files(alice: Owner) -> None:
    github = alice.connected("github")
    assert alice.get(f"/{github.pk}/files").status_code == 404
    assert imported(alice, github, "x").status_code == 404


def test_a_token_that_was_refused_is_renewed_and_the_call_repeated(
    alice: Owner, drive: Connector
) -> None:
    add(alice, "sea.txt")
    alice.oauth.expire(drive.tokens.access)
    assert listed(alice, drive) == ["sea.txt"]
    assert Connector.objects.get(pk=drive.pk).tokens.access != drive.tokens.access


def test_a_dead_grant_is_409_and_visible(alice: Owner, drive: Connector) -> None:
    alice.oauth.revoke("google", alice.login)
    answer = alice.get(f"/{drive.pk}/files")
    assert (answer.status_code, answer.json()["code"]) == (409, "connector_needs_reauth")
    assert alice.get(f"/{drive.pk}").json()["status"] == "needs_reauth"


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ({"status": 500}, 502, "connector_unavailable"),
        ({"html": "<p>Down</p>"}, 502, "connector_unavailable"),
        ({"body": {"files": {}}}, 502, "connector_unavailable"),
        ({"body": []}, 502, "connector_unavailable"),
        ({"body": {"files": [{"id": 7}]}}, 502, "connector_unavailable"),
        ({"drop": True}, 502, "connector_unavailable"),
        ({"status": 429, "retry_after": 7}, 429, "connector_rate_limited"),
        ({"status": 403, "code": "userRateLimitExceeded"}, 429, "connector_rate_limited"),
        ({"status": 403, "code": "domainPolicy"}, 409, "connector_refused"),
    ],
)
def test_a_drive_that_fails_says_how(
    alice: Owner, drive: Connector, fault: dict[str, Any], status: int, code: str
) -> None:
    alice.fail("google_drive", "files", **fault)
    answer = alice.get(f"/{drive.pk}/files")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    if status == 429:
        assert int(answer["Retry-After"]) == fault.get("retry_after", 60)


@pytest.mark.parametrize("query", [{"q": "x" * 101}, {"page": "x" * 2_049}, {"q": "\0"}])
def test_a_query_that_will_not_do_is_422(
    alice: Owner, drive: Connector, query: dict[str, str]
) -> None:
    assert alice.get(f"/{drive.pk}/files", **query).status_code == 422
