"""docs/api/teams.md: its examples run, its tables and figures are those of the code."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from accounts.models import User
from apidocs.openapi.document import document
from conversations.tests.test_shared_matrix import CASES
from devserver.paths import ROOT
from server.client_limit import AUTHENTICATION_LIMIT
from teams.models import Invitation, Role
from teams.rights import is_above
from teams.selectors.teams import get_membership
from teams.services.emails import INVITATION
from teams.tests.people import add_owner
from teams.types import (
    ENDED_INVITATIONS_KEPT,
    INVITATION_LIFETIME,
    MAX_CHANGES_PER_DAY,
    MAX_INVITATIONS_PER_DAY,
    MAX_MAILS_PER_MAILBOX,
    MAX_MEMBERS,
    MAX_NAME,
    MAX_PENDING,
    MAX_TEAMS_PER_DAY,
)
from tests.documents import assert_same, examples, rows, section
from tests.environment import inherited
from tests.personas import access_token_of, authorization, new_user
from tests.service import Web

DOCS = ROOT / "docs" / "api"
PAGE = DOCS / "teams.md"
# Shows a team until its user is in none.
SHOWING = """
const { BASE_URL, TOKEN } = process.env;
let was = null;
await showTeam(BASE_URL, TOKEN, (team) => {
  console.log(JSON.stringify(team && [team.name, team.role, team.members.length]));
  if (was && !team) process.exit();
  was = team;
});
"""


def test_a_team_is_created_and_somebody_is_invited(committed: None, web: Web) -> None:
    alice = new_user("alice")
    said = told_by("Inviting", web, alice)
    assert '"name":"Sea"' in said
    assert said.count('"email":"dora@example.com"') == 2
    team = get_membership(alice).team
    assert Invitation.objects.get(team=team).address == "dora@example.com"


def test_a_space_is_opened_to_the_team(committed: None, web: Web) -> None:
    alice = new_user("alice")
    add_owner(alice)
    space = json.loads(told_by("Shared spaces", web, alice))
    assert (space["name"], space["shared"], space["access"]) == ("Tides", "write", "owner")


def told_by(title: str, web: Web, user: User) -> str:
    """What the example of a section prints for that user."""
    [example] = examples(section(PAGE, title), "sh")
    done = subprocess.run(
        ["bash", "-ec", example],
        env={
            "PATH": os.environ["PATH"],
            "BASE_URL": web.url,
            "TOKEN": access_token_of(user),
        },
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed.")
def test_a_page_follows_its_team_without_polling(committed: None, web: Web, tmp_path: Path) -> None:
    alice = new_user("alice")
    [follow] = examples(section(DOCS / "events.md", "The stream of a user"), "js")
    [example] = examples(section(PAGE, "Following a team"), "js")
    (tmp_path / "team.mjs").write_text(follow + example + SHOWING)
    path, headers = f"{web.url}/api/teams/me", authorization(alice)
    seen: list[object] = []
    with subprocess.Popen(
        ["node", "--experimental-websocket", "team.mjs"],
        cwd=tmp_path,
        env=inherited() | {"BASE_URL": web.url, "TOKEN": access_token_of(alice)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout
        for change in (
            lambda: None,
            lambda: httpx.post(path, json={"name": "Sea"}, headers=headers),
            lambda: httpx.patch(path, json={"name": "Lake"}, headers=headers),
            lambda: httpx.delete(path, headers=headers),
        ):
            change()
            seen.append(json.loads(program.stdout.readline()))
        _, complaints = program.communicate(timeout=30)
    assert program.returncode == 0, complaints
    assert seen == [None, ["Sea", "owner", 1], ["Lake", "owner", 1], None]


def test_every_endpoint_is_listed_once_and_exists() -> None:
    listed = [(row[0].lower(), row[1]) for row in rows(section(PAGE, "Endpoints"))]
    existing = [
        (method, path)
        for path, operations in document()["paths"].items()
        if path.startswith("/api/teams")
        for method in operations
    ]
    assert_same(listed, existing, "docs/api/teams.md, Endpoints")


def test_the_table_of_roles_is_that_of_the_code() -> None:
    [invites] = [row[1:] for row in rows(section(PAGE, "Roles")) if row[0].startswith("invite")]
    others = {role: [other for other in Role if is_above(role, other)] for role in Role}
    assert invites == ["anybody else", "members", ""]
    assert others == {
        Role.OWNER: [Role.ADMIN, Role.MEMBER],
        Role.ADMIN: [Role.MEMBER],
        Role.MEMBER: [],
    }


def test_the_table_of_shared_spaces_is_that_of_the_code() -> None:
    """As the matrix of all requests shows what the code does."""
    table = {row[0]: row[1:] for row in rows(section(PAGE, "Shared spaces"))}
    named: list[str] = []
    for case in CASES:
        [acts] = [acts for acts in table if case.named in re.split(r", | and |; ", acts)]
        may = [isinstance(each, int) for each in (case.owner, case.writer, case.reader)]
        assert [cell == "yes" for cell in table[acts]] == may, case
        named.append(acts)
    assert_same(set(named), set(table), "docs/api/teams.md, Shared spaces")


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Endpoints", f"at most {MAX_NAME} characters"),
        ("Inviting", f"the page `{INVITATION.page}`"),
        ("Inviting", f"good for {INVITATION_LIFETIME.days} days"),
        ("Inviting", f"listed for {ENDED_INVITATIONS_KEPT.days} days"),
        ("Limits of teams", f"at most {MAX_MEMBERS} members"),
        ("Limits of teams", f"{MAX_PENDING} pending invitations"),
        ("Limits of teams", f"at most {MAX_INVITATIONS_PER_DAY} invitations within 24 hours"),
        ("Limits of teams", f"at most {MAX_MAILS_PER_MAILBOX} mails"),
        ("Limits of teams", f"at most {MAX_CHANGES_PER_DAY:,} changes"),
        ("Limits of teams", f"at most {MAX_TEAMS_PER_DAY} teams"),
        ("Limits of teams", f"{AUTHENTICATION_LIMIT.requests} per minute"),
    ],
)
def test_a_figure_is_that_of_the_code(title: str, words: str) -> None:
    assert words in re.sub(r"\s+", " ", section(PAGE, title))
