"""A PgBouncer in front of the test's database, configured as docs/operations/deploy.md says."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from devserver.ports import LOOPBACK, free_port, is_free
from devserver.processes import Process
from devserver.service import Service
from tests.operations.blocks import script

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
needs_pgbouncer = pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed")
_NOBODY = 65_534


@contextmanager
def running_pgbouncer(*more: str, sets_options: bool = True) -> Iterator[str]:
    """The URL of the database behind it, until the block ends. `more` are options beside those that
    are documented; without `sets_options` it does not set what our connections set elsewhere."""
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        configuration = folder / "pgbouncer.ini"
        text = "\n".join((_documented(port), *more, ""))
        if not sets_options:
            text = re.sub(r" connect_query=.*", "", text)
        configuration.write_text(text)
        user = _NOBODY if os.getuid() == 0 else None
        assert PROGRAM is not None
        service = Service(
            name="pgbouncer",
            command=(PROGRAM, str(configuration)),
            is_ready=lambda: not is_free(port),
            user=user,
            group=user,
        )
        process = Process(service)
        try:
            process.wait_until_ready(timeout=10)
            yield f"postgres://platform@{LOOPBACK}:{port}/platform"
        finally:
            process.stop()


def _documented(port: int) -> str:
    """What the document says, in front of the test's database and without passwords."""
    text = script("deploy.md#pgbouncer")
    where = connection.get_connection_params()
    places = {
        "host=postgres port=5432 dbname=platform": "host={host} port={port} dbname={dbname} "
        "user={user}".format(**where),
        "auth_type = scram-sha-256\nauth_file = /etc/pgbouncer/userlist.txt": "auth_type = any",
        "listen_addr = *\nlisten_port = 6432": f"listen_addr = {LOOPBACK}\nlisten_port = {port}\n"
        "unix_socket_dir =",
    }
    for documented, here in places.items():
        assert documented in text, documented
        text = text.replace(documented, here)
    return text
