"""docs/simulator.md: its examples do what the page says, one after the other in one shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

from accounts.features import KEY_FEATURES
from devserver.paths import ROOT
from simulator.process import RunningSimulator
from tests.documents import examples
from tests.personas import PASSWORD, new_key, new_user
from tests.service import running_web
from tests.worker import running_worker

PAGE = ROOT / "docs" / "simulator.md"


def test_the_examples_steer_the_simulator(
    committed: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max", balance_usd=20)
    _, key = new_key(alice, features=KEY_FEATURES)
    # `python3` is whatever runs these tests.
    (tmp_path / "python3").symlink_to(sys.executable)
    (tmp_path / "var").mkdir()
    with running_web(simulator) as web, running_worker(simulator):
        demo = {
            "base_url": web.url,
            "agent_api_key": key,
            "simulator_url": simulator.url,
            "email": alice.email,
            "password": PASSWORD,
        }
        (tmp_path / "var" / "demo.json").write_text(json.dumps(demo))
        done = subprocess.run(
            ["bash", "-ec", "\n".join(examples(PAGE.read_text(), "sh"))],
            cwd=tmp_path,
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
            check=True,
            capture_output=True,
            text=True,
            timeout=300,
        )
    answers = done.stdout
    assert '"content":" morning."' in answers
    assert '"reasoning_tokens":30' in answers
    assert '"finish_reason":"length"' in answers
    assert "failed in the middle of its answer" in answers
    assert '"finish_reason":"content_filter"' in answers
    assert answers.count("failed before it answered") == 2  # by its own line, and while it is away
    assert answers.count('"marker":"my-call"') == 2
    *done_by_all, alone, unplanned = answers.splitlines()[-6:]
    assert [line.partition(" ")[0] for line in done_by_all] == ["completed"] * 4
    assert [attempts(line) > 1 for line in done_by_all] == [False, False, True, True]
    assert alone.startswith("paused step_failed")
    assert unplanned == "paused provider_unavailable []"


def attempts(line: str) -> int:
    """Those at the first part."""
    return int(line.partition("'completed', ")[2].partition(")")[0])
