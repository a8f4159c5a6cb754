"""What both hosts say of tokens, repositories, branches and files."""

from datetime import UTC, datetime

import pytest

from integrations.githosts.tests.hosted import FILES, Hosted
from integrations.githosts.types import EXECUTABLE, FILE, SUBMODULE, SYMLINK, HostKind
from integrations.safe_http.errors import (
    AccessRefused,
    HostFailed,
    Missing,
    RateLimited,
    Rejected,
    TokenRefused,
)
from simulator.process import RunningSimulator
from tests.stopwatch import Stopwatch


def test_a_token_says_whose_it_is_and_what_it_may_do(hosted: Hosted) -> None:
    hosted.add_token("limited", scopes=["read_api"], expires_at="2099-12-31T00:00:00Z")
    with hosted.connect("limited") as host:
        info = host.token_info()
    assert (info.login, info.scopes) == (hosted.login, ("read_api",))
    assert info.expires_at == datetime(2099, 12, 31, tzinfo=UTC)


def test_a_fine_grained_token_does_not_say_what_it_may_do(hosted: Hosted) -> None:
    kind = "fine_grained" if hosted.kind == HostKind.GITHUB else "oauth"
    hosted.add_token("fine", kind=kind)
    with hosted.connect("fine") as host:
        info = host.token_info()
    if hosted.kind == HostKind.GITLAB or kind == "fine_grained":
        assert (info.scopes, info.expires_at) == (None, None)


@pytest.mark.parametrize("state", ["unknown", "revoked", "expired"])
def test_a_dead_token_is_refused(hosted: Hosted, state: str) -> None:
    token = f"{state}-{hosted.login}"
    if state != "unknown":
        hosted.add_token(token, expires_at="2020-01-01T00:00:00Z" if state == "expired" else None)
    if state == "revoked":
        hosted.control.revoke_token(token)
    with hosted.connect(token) as host, pytest.raises(TokenRefused):
        host.token_info()


def test_repositories_are_listed_the_latest_changed_first(hosted: Hosted) -> None:
    hosted.add("blog", files=FILES, private=False)
    hosted.add("empty")
    with hosted.connect() as host:
        page = host.list_repositories(query="", page=1)
    empty, blog, site = page.repositories
    assert [each.name for each in (empty, blog, site)] == [
        f"{hosted.login}/{name}" for name in ("empty", "blog", "site")
    ]
    assert (site.is_private, site.is_archived, site.can_write) == (True, False, True)
    assert (site.default_branch, blog.is_private) == ("main", False)
    assert page.next_page is None


def test_repositories_are_found_by_a_part_of_their_name(hosted: Hosted) -> None:
    hosted.add("blog", files=FILES)
    with hosted.connect() as host:
        found = host.list_repositories(query="BLO", page=1).repositories
    assert [each.name for each in found] == [f"{hosted.login}/blog"]


def test_repositories_come_in_pages(hosted: Hosted) -> None:
    for number in range(101):
        hosted.add(f"r{number}")
    with hosted.connect() as host:
        first = host.list_repositories(query="", page=1)
        assert first.next_page == 2
        second = host.list_repositories(query="", page=2)
    assert (len(first.repositories), len(second.repositories)) == (100, 2)
    assert second.next_page is None


def test_a_repository_that_the_token_does_not_reach_is_missing(hosted: Hosted) -> None:
    hosted.control.create_repository(hosted.kind, f"bob-{hosted.login}/site", files=FILES)
    with hosted.connect() as host, pytest.raises(Missing):
        host.get_repository(f"bob-{hosted.login}/site")


def test_a_reader_cannot_write(hosted: Hosted) -> None:
    path = f"bob-{hosted.login}/shared"
    hosted.control.create_repository(hosted.kind, path, files=FILES, members={hosted.login: "read"})
    with hosted.connect() as host:
        assert not host.get_repository(path).can_write


def test_a_renamed_repository_is_found_by_its_old_name(hosted: Hosted) -> None:
    path = hosted.rename("new")
    with hosted.connect() as host:
        assert host.get_repository(hosted.repository).name == path
        assert host.get_branch(hosted.repository, "main") == host.get_branch(path, "main")


def test_the_old_name_of_a_repository_can_be_another_ones(hosted: Hosted) -> None:
    hosted.rename("new")
    hosted.add("site", files=FILES, default_branch="trunk")
    with hosted.connect() as host:
        found = host.get_repository(hosted.repository)
    assert (found.name, found.default_branch) == (hosted.repository, "trunk")


def test_a_renamed_branch_has_its_new_name_alone(hosted: Hosted) -> None:
    with hosted.connect() as host:
        before = host.get_branch(hosted.repository, "main")
        hosted.change(renamed_branches={"main": "trunk"})
        assert before is not None
        assert host.get_repository(hosted.repository).default_branch == "trunk"
        assert host.get_branch(hosted.repository, "main") is None
        trunk = host.get_branch(hosted.repository, "trunk")
    assert trunk is not None
    assert trunk.commit == before.commit


def test_a_branch_has_its_newest_commit(hosted: Hosted) -> None:
    commit = hosted.somebody_commits({"a.md": "a\n"}, branch="feature/one")
    with hosted.connect() as host:
        branch = host.get_branch(hosted.repository, "feature/one")
        assert branch is not None
        assert (branch.name, branch.commit) == ("feature/one", commit)
        assert host.get_branch(hosted.repository, "feature/two") is None


def test_a_tree_has_files_links_and_submodules(hosted: Hosted) -> None:
    hosted.somebody_commits(
        {
            "link": {"content": "README.md", "mode": "120000"},
            "library": {"content": "1" * 40, "mode": "160000"},
            "docs/ü ß.md": "x\n",
        }
    )
    with hosted.connect() as host:
        main = host.get_branch(hosted.repository, "main")
        assert main is not None
        entries = host.list_tree(hosted.repository, main.commit)
    assert {each.path: each.mode for each in entries} == {
        "README.md": FILE,
        "docs/ü ß.md": FILE,
        "library": SUBMODULE,
        "link": SYMLINK,
        "run.sh": EXECUTABLE,
        "src/app.py": FILE,
    }


def test_a_tree_of_many_pages_is_whole(hosted: Hosted) -> None:
    hosted.somebody_commits({f"d{n % 7}/f{n}.txt": "x" for n in range(1_234)})
    with hosted.connect() as host:
        main = host.get_branch(hosted.repository, "main")
        assert main is not None
        entries = host.list_tree(hosted.repository, main.commit)
    assert len({each.path for each in entries}) == len(entries) == 1_234 + len(FILES)


def test_a_file_is_read_byte_by_byte_and_not_beyond_its_limit(hosted: Hosted) -> None:
    hosted.somebody_commits({"data.bin": {"base64": "AAEC/w0K"}})
    with hosted.connect() as host:
        main = host.get_branch(hosted.repository, "main")
        assert main is not None
        entries = {each.path: each for each in host.list_tree(hosted.repository, main.commit)}
        sha = entries["data.bin"].sha
        assert host.read_blob(hosted.repository, sha, max_bytes=6) == b"\x00\x01\x02\xff\r\n"
        with pytest.raises(Rejected):
            host.read_blob(hosted.repository, sha, max_bytes=5)
        with pytest.raises(Missing):
            host.read_blob(hosted.repository, "0" * 40, max_bytes=1_000)


def test_an_empty_repository_has_no_default_branch(hosted: Hosted) -> None:
    hosted.add("empty")
    with hosted.connect() as host:
        assert host.get_branch(f"{hosted.login}/empty", "main") is None


# --- Hosts that do not answer as they should ------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 503},
        {"html": True},
        {"html": True, "status": 502},
        {"drop": True},
        {"truncate": True},
        {"when": "after", "status": 500},
    ],
)
def test_a_host_that_fails_is_said_to_have_failed(hosted: Hosted, fault: dict[str, object]) -> None:
    hosted.fail("get_repository", **fault)
    with hosted.connect() as host:
        with pytest.raises(HostFailed) as failed:
            host.get_repository(hosted.repository)
        assert not failed.value.may_be_done
        assert host.get_repository(hosted.repository).can_write


def test_all_calls_of_a_request_end_in_time(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("integrations.safe_http.rest.SECONDS_IN_ALL", 0.5)
    hosted.fail("get_branch", delay_ms=30_000)
    with Stopwatch() as watch, hosted.connect() as host:
        with pytest.raises(HostFailed):
            host.get_branch(hosted.repository, "main")
        assert watch.seconds < 1
        with pytest.raises(HostFailed, match="took too long") as late:
            host.get_branch(hosted.repository, "main")
    assert not late.value.may_be_done


def test_a_listing_of_many_pages_ends_in_time(
    simulator: RunningSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted = Hosted.create(simulator, HostKind.GITLAB)
    commit = hosted.somebody_commits({f"d{n % 7}/f{n}.txt": "x" for n in range(3_000)})
    monkeypatch.setattr("integrations.safe_http.rest.SECONDS_IN_ALL", 0.7)
    hosted.fail("get_tree", delay_ms=300, times=1_000)
    with Stopwatch() as watch, hosted.connect() as host, pytest.raises(HostFailed):
        host.list_tree(hosted.repository, commit)
    assert watch.seconds < 1.2


def test_a_host_that_wants_fewer_calls_says_for_how_long(hosted: Hosted) -> None:
    hosted.fail("get_repository", rate_limited=17)
    with hosted.connect() as host, pytest.raises(RateLimited) as limited:
        host.get_repository(hosted.repository)
    assert limited.value.retry_after == 17


def test_the_words_of_the_host_are_passed_on(hosted: Hosted) -> None:
    hosted.fail("get_repository", status=403, message="Sign the\nterms first.")
    with hosted.connect() as host, pytest.raises(AccessRefused, match="Sign the terms"):
        host.get_repository(hosted.repository)
