"""Runs modules of ours that parse the files of strangers, each in a process without any power.

Parsers of media are what attackers make files for. So no such file is parsed in a process that has
secrets or connections. The parent calls `start`; the module itself calls `load_package` for what
it needs, then `confine`, and only then looks at the file.
"""

import importlib
import os
import pkgutil
import resource
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import IO

# The exit status of such a module where the file is to blame: EX_DATAERR of sysexits.h.
BAD_FILE = 65

SOURCE_ROOT = Path(__file__).resolve().parents[1]
_PYTHONPATH = f"{SOURCE_ROOT}{os.pathsep}{SOURCE_ROOT.parent}"


def start(
    module: str, *arguments: str, stdin: int | IO[bytes] = subprocess.PIPE
) -> "subprocess.Popen[bytes]":
    """Start `python -m MODULE ARGUMENTS` with nothing of our environment. Its standard output is a
    pipe."""
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-s", "-P", "-m", module, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": _PYTHONPATH},
        cwd="/",
    )


def load_package(package: ModuleType) -> None:
    """Import all modules of a package, also those that it imports lazily: no file can be opened
    after `confine`."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def confine(*, cpu_seconds: int, memory: int) -> None:
    """From here on: no files, no sockets, no other process, and so much time of the processor and
    so many bytes of address space. SIGXCPU says that the time is used up; SIGKILL is somebody
    else's, such as of a machine without memory."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))
