"""A large account is exported without holding it: the memory of a process that does it is
measured."""

import os
import subprocess
import sys

from accounts.models import User
from conversations.models import Message
from conversations.tests.rows import talk
from privacy.erasing import erase
from privacy.models import Deletion
from simulator.process import RunningSimulator
from tests.environment import inherited
from tests.personas import new_user
from tests.service import environment_of_a_process

MOST = 20_000_000  # bytes
COUNT, LENGTH = 30_000, 2_000


def chatter(name: str, count: int) -> User:
    """A user with so many messages in one conversation."""
    user = new_user(name)
    conversation = talk(user, "Hello")
    for _ in range(count // 1_000):
        Message.objects.bulk_create(
            Message(
                conversation=conversation,
                account_id=user.pk,
                role="user",
                content=os.urandom(LENGTH // 2).hex(),
            )
            for _ in range(1_000)
        )
    return user


def test_60_megabytes_of_messages_take_less_than_20_more(
    committed: None, simulator: RunningSimulator
) -> None:
    bob, alice = chatter("bob", 1_000), chatter("alice", COUNT)
    environment = {
        **inherited(),
        **environment_of_a_process(simulator),
        "DATABASE_POOL": "0",
        "OUTPUTS_DIR": os.environ["OUTPUTS_DIR"],
        "UPLOADS_DIR": os.environ["UPLOADS_DIR"],
    }
    program = [sys.executable, "-m", "privacy.tests.exporting_memory"]
    done = subprocess.run(
        [*program, str(bob.pk), str(alice.pk)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    deletion = Deletion.objects.create(account=alice)
    erase(deletion, seconds=250)
    deletion.delete()
    assert done.returncode == 0, done.stderr
    assert 0 <= int(done.stdout.splitlines()[-1]) < MOST
