"""A day of alice and bob, which a program has with a generated client. It asks for the tokens in
their mails as it goes, and prints what happens."""

import json
import os
import re
import subprocess
from decimal import Decimal
from pathlib import Path
from threading import Timer
from typing import NamedTuple
from uuid import uuid4

from accounts.models import User
from accounts.tests.mailbox import mailed_token
from billing.models import Charge
from common.money import NUSD_PER_USD
from devserver.paths import ROOT
from teams.models import Member
from tests.clients.environments import output_of, surroundings
from tests.documents import examples, section
from tests.personas import PASSWORD
from tests.service import Web

_PAGE = ROOT / "docs" / "api" / "app.md"
_QUESTION = re.compile(r"The token of the mail to (\S+) that leads to (\S+):\n")
_TIMEOUT = 100  # seconds


class Day(NamedTuple):
    """What the program has printed, and whose day it was."""

    printed: str
    alice: User
    bob: User


def generate(number: int, *, web: Web, commands: Path, folder: Path) -> str:
    """Make a client in the folder by that example of docs/api/app.md, whose command is among
    `commands`. Returns what the generator says."""
    example = examples(section(_PAGE, "Generated clients"), "sh")[number]
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    return output_of("sh", "-c", example, folder=folder, PATH=path, BASE_URL=web.url)


def run(*program: str | Path, web: Web, folder: Path) -> Day:
    """The day of two people who are new."""
    addresses = [f"{name}-{uuid4().hex}@example.com" for name in ("alice", "bob")]
    errors = folder / "errors.txt"
    with errors.open("w") as file:
        running = subprocess.Popen(
            [*program, *addresses],
            cwd=folder,
            env=surroundings(folder) | {"BASE_URL": web.url, "PASSWORD": PASSWORD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
        printed = _answered(running)
    assert running.returncode == 0, printed + errors.read_text()
    alice, bob = (User.objects.get(email=address) for address in addresses)
    return Day(printed, alice, bob)


def _answered(running: subprocess.Popen[str]) -> str:
    """Answer what the program asks until it ends. Returns what else it prints."""
    assert running.stdin
    assert running.stdout
    printed = ""
    limit = Timer(_TIMEOUT, running.kill)
    limit.start()
    with running:
        for line in running.stdout:
            if asked := _QUESTION.fullmatch(line):
                address, page = asked.groups()
                running.stdin.write(f"{mailed_token(page, address)}\n")
                running.stdin.flush()
            else:
                printed += line
    limit.cancel()
    return printed


def assert_it_was_had(day: Day) -> None:
    """Alice was refused what she was to be, the program has added up what she was billed, and the
    team is bob's."""
    assert "402 plan_required: council\n" in day.printed
    assert re.search(r"^422 validation_failed: .*amount_usd", day.printed, re.MULTILINE)
    assert day.printed.endswith("401 invalid_token\n")
    [bill] = re.findall(r"^{.*}$", day.printed, re.MULTILINE)
    billed = {name: int(Decimal(usd) * NUSD_PER_USD) for name, usd in json.loads(bill).items()}
    charges = Charge.objects.filter(account=day.alice, funding="customer")
    assert set(charges.values_list("status", flat=True)) == {"settled"}
    paid = sum(charge.charge_plan + charge.charge_balance for charge in charges)
    assert billed.pop("billed") == sum(billed.values()) == paid
    assert all(billed.values())
    roles = dict(
        Member.objects.filter(team__members__account=day.bob).values_list("account", "role")
    )
    assert roles == {day.alice.pk: "admin", day.bob.pk: "owner"}
