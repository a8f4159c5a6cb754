"""Google Drive: files are listed, described, downloaded and exported with tokens of Google."""

import hashlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from simulator import process
from simulator.process import RunningSimulator
from simulator.tests.oauth_client import Client

SCOPE = "https://www.googleapis.com/auth/drive"


class Owner:
    """A person with a drive, and a client that may read it."""

    def __init__(self, simulator: RunningSimulator, scope: str = f"{SCOPE}.readonly") -> None:
        self.simulator = simulator
        self.client = Client(simulator, "google")
        self.token = self.client.connect(scope=scope)["access_token"]

    def add(self, name: str, content: bytes | str = "text", **options: Any) -> str:
        return self.simulator.drive.add_file(self.client.login, name, content, **options)

    def get(self, path: str = "", **query: str) -> httpx.Response:
        url = f"{self.simulator.drive.base_url}/files{path}"
        return httpx.get(url, params=query, headers={"authorization": f"Bearer {self.token}"})

    def names(self, **query: str) -> list[str]:
        answer = self.get(**query)
        assert answer.status_code == 200
        return [file["name"] for file in answer.json()["files"]]

    def reason(self, path: str = "", **query: str) -> tuple[int, str]:
        return reason(self.get(path, **query))


def reason(answer: httpx.Response) -> tuple[int, str]:
    """The status and the reason of an error in Google's form."""
    error = answer.json()["error"]
    assert error["code"] == answer.status_code
    assert error["message"] == error["errors"][0]["message"]
    return answer.status_code, error["errors"][0]["reason"]


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    """One of its own: faults are common to all callers."""
    with process.running() as running:
        yield running


@pytest.fixture
def alice(simulator: RunningSimulator) -> Iterator[Owner]:
    yield Owner(simulator)
    simulator.oauth.stop_failing()


def test_a_person_sees_her_own_files_only(alice: Owner, simulator: RunningSimulator) -> None:
    file = alice.add("plan.txt")
    bob = Owner(simulator)
    assert alice.names() == ["plan.txt"]
    assert bob.names() == []
    assert bob.reason(f"/{file}") == (404, "notFound")


def test_without_fields_only_the_usual_ones_are_answered(alice: Owner) -> None:
    file = alice.add("plan.txt")
    usual = {"kind": "drive#file", "id": file, "name": "plan.txt", "mimeType": "text/plain"}
    assert alice.get(f"/{file}").json() == usual
    assert alice.get().json() == {
        "kind": "drive#fileList",
        "incompleteSearch": False,
        "files": [usual],
    }


def test_a_file_is_described(alice: Owner) -> None:
    content = b"\x00\xff" * 100
    file = alice.add("data.bin", content, mime="application/octet-stream", modified_at=1.5)
    fields = "id,name,mimeType,size,md5Checksum,modifiedTime,capabilities/canDownload"
    assert alice.get(f"/{file}", fields=fields).json() == {
        "id": file,
        "name": "data.bin",
        "mimeType": "application/octet-stream",
        "size": "200",
        "md5Checksum": hashlib.md5(content, usedforsecurity=False).hexdigest(),
        "modifiedTime": "1970-01-01T00:00:01.500Z",
        "capabilities": {"canDownload": True},
    }


def test_a_file_of_the_docs_editors_has_no_checksum(alice: Owner) -> None:
    file = alice.add("Notes", google_type="document")
    shown = alice.get(f"/{file}", fields="*").json()
    assert shown["mimeType"] == "application/vnd.google-apps.document"
    assert "md5Checksum" not in shown


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ("files/id", {"id"}),
        ("nextPageToken, files(id, capabilities(canDownload))", {"id", "capabilities"}),
        ("files(name,size),files(mimeType)", {"name", "size", "mimeType"}),
        ("files(id,webViewLink)", {"id"}),
    ],
)
def test_parts_are_selected(alice: Owner, fields: str, keys: set[str]) -> None:
    alice.add("plan.txt")
    answer = alice.get(fields=fields).json()
    assert answer.keys() == {"files"}
    assert answer["files"][0].keys() == keys


@pytest.mark.parametrize("fields", ["id", "files(ID)", "files(id", "files(id))", "a b", ","])
def test_fields_that_there_are_not_are_refused(alice: Owner, fields: str) -> None:
    assert alice.reason(fields=fields) == (400, "invalidParameter")


def test_files_are_found_by_the_beginnings_of_words(alice: Owner) -> None:
    for name in ("Plan of Alice.txt", "explanation.txt", "year_plan.md"):
        alice.add(name)
    assert alice.names(q="name contains 'PLAN'") == ["Plan of Alice.txt", "year_plan.md"]
    assert alice.names(q="name contains 'of al'") == ["Plan of Alice.txt"]


def test_terms_are_joined(alice: Owner) -> None:
    alice.add("plan a.txt")
    alice.add("plan b.txt", trashed=True)
    alice.add("plan c", google_type="folder")
    query = "name contains 'plan' and trashed = false"
    assert alice.names(q=query) == ["plan a.txt", "plan c"]
    folder = "application/vnd.google-apps.folder"
    assert alice.names(q=f"{query} and mimeType != '{folder}'") == ["plan a.txt"]
    assert alice.names(q=f"trashed=true and name='plan b.txt' and mimeType != '{folder}'") == [
        "plan b.txt"
    ]


def test_a_quoted_text_can_have_quotes(alice: Owner) -> None:
    alice.add("Alice's \\ plan")
    alice.add("Alices")
    assert alice.names(q=r"name contains 'Alice\'s \\ p'") == ["Alice's \\ plan"]


@pytest.mark.parametrize(
    "query",
    ["x", "name contains 'a", "name contains 'a' or trashed = false", "trashed = false and", "'"],
)
def test_a_query_that_is_not_understood_is_refused(alice: Owner, query: str) -> None:
    assert alice.reason(q=query) == (400, "invalid")


def test_files_come_in_pages(alice: Owner) -> None:
    for number in range(5):
        alice.add(f"{number}.txt")
    query = {"pageSize": "2", "fields": "nextPageToken,files/name"}
    pages = 0
    names: list[str] = []
    while True:
        page = alice.get(**query).json()
        pages, names = pages + 1, names + [file["name"] for file in page["files"]]
        if "nextPageToken" not in page:
            break
        query["pageToken"] = page["nextPageToken"]
    assert (pages, names) == (3, [f"{number}.txt" for number in range(5)])


@pytest.mark.parametrize(
    ("query", "reason_"),
    [
        ({"pageSize": "0"}, "invalidParameter"),
        ({"pageSize": "1001"}, "invalidParameter"),
        ({"pageSize": "many"}, "invalidParameter"),
        ({"pageToken": "unknown!"}, "invalid"),
        ({"orderBy": "colour"}, "invalid"),
    ],
)
def test_a_page_that_there_is_not_is_refused(
    alice: Owner, query: dict[str, str], reason_: str
) -> None:
    assert alice.reason(**query) == (400, reason_)


def test_files_are_ordered(alice: Owner) -> None:
    alice.add("b", modified_at=1)
    alice.add("a", modified_at=2)
    alice.add("c", modified_at=3, google_type="folder")
    assert alice.names(orderBy="name") == ["a", "b", "c"]
    assert alice.names(orderBy="modifiedTime desc") == ["c", "a", "b"]
    assert alice.names(orderBy="folder,name desc") == ["c", "b", "a"]


def test_a_file_is_downloaded(alice: Owner) -> None:
    content = bytes(range(256)) * 1000
    file = alice.add("data.bin", content, mime="application/x-data")
    answer = alice.get(f"/{file}", alt="media")
    assert answer.content == content
    assert answer.headers["content-type"] == "application/x-data"


def test_a_file_of_the_docs_editors_is_not_downloaded_but_exported(alice: Owner) -> None:
    file = alice.add("Notes", "# Größe\n(all)", google_type="document")
    assert alice.reason(f"/{file}", alt="media") == (403, "fileNotDownloadable")
    for mime in ("text/plain", "text/markdown"):
        answer = alice.get(f"/{file}/export", mimeType=mime)
        assert (answer.text, answer.headers["content-type"]) == ("# Größe\n(all)", mime)
    pdf = alice.get(f"/{file}/export", mimeType="application/pdf").content
    assert pdf.startswith(b"%PDF-1.4\n")
    assert pdf.endswith(b"%%EOF\n")
    assert b"(\\(all\\)) Tj" in pdf


def test_a_spreadsheet_is_exported_as_csv(alice: Owner) -> None:
    file = alice.add("Numbers", "a,b\n1,2\n", google_type="spreadsheet")
    assert alice.get(f"/{file}/export", mimeType="text/csv").text == "a,b\n1,2\n"
    assert alice.reason(f"/{file}/export", mimeType="text/plain") == (400, "badRequest")
    assert alice.reason(f"/{file}/export") == (400, "required")


def test_a_file_with_bytes_is_not_exported(alice: Owner) -> None:
    file = alice.add("plan.txt")
    assert alice.reason(f"/{file}/export", mimeType="text/plain") == (403, "fileNotExportable")


def test_an_export_over_10_mib_is_refused(alice: Owner) -> None:
    file = alice.add("Notes", b"x" * (10 * 1024 * 1024 + 1), google_type="document")
    path = f"/{file}/export"
    assert alice.reason(path, mimeType="text/plain") == (403, "exportSizeLimitExceeded")


def test_a_file_that_may_not_be_downloaded_is_described(alice: Owner) -> None:
    file = alice.add("secret.txt", can_download=False)
    shown = alice.get(f"/{file}", fields="capabilities").json()
    assert shown == {"capabilities": {"canDownload": False}}
    assert alice.reason(f"/{file}", alt="media") == (403, "cannotDownloadFile")


@pytest.mark.parametrize("path", ["/unknown", "/unknown/export"])
def test_an_unknown_file_is_not_found(alice: Owner, path: str) -> None:
    assert alice.reason(path, mimeType="text/plain") == (404, "notFound")


def test_a_token_that_has_ended_is_refused(alice: Owner, simulator: RunningSimulator) -> None:
    simulator.oauth.expire(alice.token)
    answer = alice.get()
    assert reason(answer) == (401, "authError")
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    bob = Owner(simulator)
    simulator.oauth.revoke("google", bob.client.login)
    assert bob.reason() == (401, "authError")


def test_a_request_without_a_token_is_refused(simulator: RunningSimulator) -> None:
    assert reason(httpx.get(f"{simulator.drive.base_url}/files")) == (401, "required")


def test_a_token_of_another_server_is_refused(alice: Owner) -> None:
    alice.token = Client(alice.simulator, "gitlab").connect()["access_token"]
    assert alice.reason() == (401, "authError")


def test_a_token_needs_a_scope_of_drive(simulator: RunningSimulator) -> None:
    bob = Owner(simulator, scope="openid")
    assert bob.reason() == (403, "insufficientPermissions")


def test_a_token_for_metadata_does_not_download(simulator: RunningSimulator) -> None:
    bob = Owner(simulator, scope=f"{SCOPE}.metadata.readonly")
    file = bob.add("plan.txt")
    assert bob.names() == ["plan.txt"]
    assert bob.reason(f"/{file}", alt="media") == (403, "insufficientPermissions")


def test_a_token_for_files_of_the_app_reaches_no_others(simulator: RunningSimulator) -> None:
    bob = Owner(simulator, scope=f"{SCOPE}.file")
    file = bob.add("plan.txt")
    assert bob.names() == []
    assert bob.reason(f"/{file}", alt="media") == (404, "notFound")


@pytest.mark.parametrize(
    ("endpoint", "path", "query"),
    [
        ("files", "", {}),
        ("file", "/{id}", {}),
        ("media", "/{id}", {"alt": "media"}),
        ("export", "/{id}/export", {"mimeType": "text/plain"}),
    ],
)
def test_each_request_can_be_limited(
    alice: Owner, endpoint: str, path: str, query: dict[str, str]
) -> None:
    file = alice.add("Notes", google_type="document")
    alice.simulator.oauth.fail(
        "google", endpoint, status=403, code="userRateLimitExceeded", retry_after=3
    )
    answer = alice.get(path.format(id=file), **query)
    assert reason(answer) == (403, "userRateLimitExceeded")
    assert answer.json()["error"]["errors"][0]["domain"] == "usageLimits"
    assert answer.headers["retry-after"] == "3"
    assert alice.simulator.oauth.requests()[-1]["endpoint"] == endpoint


def test_a_status_alone_has_its_usual_reason(alice: Owner) -> None:
    reasons = {401: "authError", 404: "notFound", 429: "rateLimitExceeded", 503: "backendError"}
    for status in reasons:
        alice.simulator.oauth.fail("google", "files", status=status)
    assert [alice.reason() for _ in reasons] == list(reasons.items())


@pytest.mark.parametrize(
    "body",
    [
        {"login": "alice", "name": "plan.txt"},
        {"login": "alice", "name": "plan.txt", "text": "a", "base64": "YQ=="},
        {"login": "alice", "name": "plan.txt", "base64": "!"},
        {"login": "alice", "name": "plan.txt", "text": "a", "google_type": "site"},
        {"login": "alice", "name": "plan.txt", "text": "a", "more": 1},
    ],
)
def test_a_file_that_is_not_understood_is_refused(
    simulator: RunningSimulator, body: dict[str, object]
) -> None:
    assert httpx.post(f"{simulator.url}/_drive/files", json=body).status_code == 400


def test_a_file_can_be_given_as_text(alice: Owner) -> None:
    body = {"login": alice.client.login, "name": "plan.txt", "mime": "text/x", "text": "Größe"}
    answer = httpx.post(f"{alice.simulator.url}/_drive/files", json=body)
    assert answer.status_code == 201
    file = answer.json()["id"]
    assert alice.get(f"/{file}", alt="media").content == "Größe".encode()
