"""`make run` as a process of a test, in a folder of its own."""

import json
import re
import subprocess
import sys
from pathlib import Path

from devserver.paths import ROOT
from devserver.ports import free_port
from tests.environment import inherited

# Empty, so that a developer's own .env plays no part. The web app is built where a drill wants it.
OWN_NOTHING = {
    "DATABASE_URL": "",
    "REDIS_URL": "",
    "DEMO": "",
    "LOCAL_MODEL_URL": "",
    "LOCAL_SPEECH_URL": "",
    "DEFAULT_SPEECH_MODEL": "",
    "WEB_APP": "off",
    "WEB_APP_DIR": "",
}
COMMAND = [sys.executable, "-m", "devserver", "run"]


def environment(**changes: str) -> dict[str, str]:
    return {**inherited(), **OWN_NOTHING, **changes}


class Service:
    """The whole service, from its start. `tree` is where its sources are; `changes` are those of
    its environment."""

    def __init__(self, folder: Path, *, tree: Path = ROOT, **changes: str) -> None:
        self.var = folder / "var"
        self.port = free_port()
        self.output = ""
        self._tree = tree
        self._environment = environment(VAR_DIR=str(self.var), PORT=str(self.port), **changes)
        self.start()

    def start(self) -> None:
        self.popen = subprocess.Popen(
            COMMAND,
            env=self._environment,
            cwd=self._tree,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.read_until("/v1/chat/completions")  # the call to paste comes last

    def read_until(self, pattern: str) -> None:
        """Read the output until it has what the regular expression says, or fail at its end."""
        assert self.popen.stdout
        while not re.search(pattern, self.output, re.M):
            line = self.popen.stdout.readline()
            if not line:
                self.popen.communicate()  # nothing is left to warn of in the next test
                raise AssertionError(self.output)
            self.output += line

    def processes(self) -> dict[str, int]:
        """Process ids of the parts, by name."""
        paths = (self.var / "run").glob("*.json")
        return {path.stem: json.loads(path.read_text())["pid"] for path in paths}

    def stop(self) -> int:
        self.popen.terminate()
        rest, _ = self.popen.communicate(timeout=60)
        self.output += rest
        return self.popen.returncode


def reachable(folder: Path) -> Path:
    """The temporary folder of a test, which the user that PostgreSQL runs as may pass through."""
    for path in (folder, folder.parent, folder.parent.parent):
        path.chmod(path.stat().st_mode | 0o011)
    return folder
