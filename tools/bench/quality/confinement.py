"""Runs the judges, which run what models have written: as nobody, without network, files of ours,
environment and other processes, and with little time and memory.

The namespaces are those of Linux (`unshare`), the rest are limits of the process (`setpriv`,
`setrlimit`). Where they cannot be had, nothing is run.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.quality.judges.checks import DONE

_JUDGES = Path(__file__).parent / "judges"
_SECONDS = 20
# In mounts of its own the outcome is /mnt, and the folders of temporary files and sockets are
# empty.
_SHELL = (
    'mount --bind "$1" /mnt && mount -t tmpfs none /tmp && mount -t tmpfs none /run && cd /mnt '
    '&& shift && exec "$@"'
)
_PROGRAM = """
import os, resource, sys
for limit, value in (
    (resource.RLIMIT_CPU, 10),
    (resource.RLIMIT_AS, 512 * 1024**2),
    (resource.RLIMIT_NOFILE, 32),
    (resource.RLIMIT_NPROC, 16),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_CORE, 0),
):
    resource.setrlimit(limit, (value, value))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.abspath("judge"))
"""
_JUDGE = """
from bench.quality.judges import checks
checks.main(sys.argv[1])
"""
# What a program must not be able to do.
_PROBE = """
import os, socket
assert os.listdir(".") == ["judge"], "it sees other files"
assert not os.environ.keys() - {"LC_CTYPE", "PWD", "OLDPWD", "SHLVL", "_"}, "it has our environment"
assert [name for _, name in socket.if_nameindex()] == ["lo"], "it has a network"
assert sum(name.isdigit() for name in os.listdir("/proc")) == 1, "it sees other processes"
try:
    open("x", "w").write("x")
except OSError:
    print("judged")
"""


def faults_of(folder: Path, name: str, *, confined: bool) -> list[str]:
    """What the judge of that name finds wrong in the outcome in this folder. A judge that runs
    nothing of the outcome may do without confinement."""
    _bring_judge(folder, name)
    return _run(folder, _PROGRAM + _JUDGE, name, confined=confined)


def why_not(folder: Path) -> str:
    """Why nothing can be confined on this machine, with an empty folder to try; empty where it
    can."""
    (folder / "judge").mkdir()
    return "; ".join(_run(folder, _PROGRAM + _PROBE, confined=True))


def _bring_judge(folder: Path, name: str) -> None:
    """The judge and what it imports, at their place in a package of their own."""
    place = folder / "judge/bench/quality/judges"
    place.mkdir(parents=True)
    for part in (place, place.parent, place.parent.parent):
        (part / "__init__.py").touch()
    for module in ("checks", name):
        shutil.copy(_JUDGES / f"{module}.py", place)


def _run(folder: Path, program: str, *arguments: str, confined: bool) -> list[str]:
    """What the program prints but for its last line, which has to be there."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    command = _confined(folder) if confined else []
    command += [os.path.realpath(sys.executable), "-I", "-c", program, *arguments]
    try:
        done = subprocess.run(
            command,
            env={},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [f"it takes more than {_SECONDS} seconds"]
    except OSError as error:
        return [str(error)]
    *said, last = done.stdout.splitlines() or [""]
    if last != DONE:
        words = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        return [*said, words[-1][:200]]
    return said


def _confined(folder: Path) -> list[str]:
    """The beginning of a command in namespaces of its own, as nobody. Who is no administrator stays
    who they are, without the rights of the namespace."""
    spaces = ["--net", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc"]
    rights = ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
    if os.geteuid() == 0:
        rights += ["--reuid=65534", "--regid=65534", "--clear-groups"]
    else:
        spaces += ["--user", "--map-root-user"]
    shell = ["sh", "-c", _SHELL, "sh", str(folder)]
    return ["/usr/bin/unshare", *spaces, *shell, "/usr/bin/setpriv", *rights]
