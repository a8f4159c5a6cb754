"""The simulator as a process: it says when it listens, and what is wrong when it cannot."""

import os
import subprocess
import sys
import time

import httpx
import pytest

from simulator import bench, process
from simulator.bench_videos import COUNTS, BenchTask
from simulator.media.films import read_metadata
from simulator.process import RunningSimulator
from simulator.tests.conftest import events


def test_a_busy_port_ends_it_with_one_sentence(simulator: RunningSimulator) -> None:
    done = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-m", "simulator", "--port", str(simulator.port)],
        env={**os.environ, "PYTHONPATH": str(process.SOURCE_ROOT)},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"port {simulator.port} is in use" in done.stderr


def test_it_ends_with_its_owner() -> None:
    with process.running() as simulator:
        assert httpx.get(simulator.url + "/_health").json() == {"status": "ok"}
    with pytest.raises(httpx.ConnectError):
        httpx.get(simulator.url + "/_health")


def test_bench_mode_serves_whole_answers_and_streams_of_sixty_chunks() -> None:
    with process.running("--bench") as simulator:
        url = simulator.base_url("openai") + "/chat/completions"
        whole = httpx.post(url, json={"model": "gpt-6-luna", "messages": []})
        stream = httpx.post(url, json={"model": "gpt-6-luna", "stream": True})
    assert whole.json()["usage"]["completion_tokens"] == 3
    chunks = events(stream.text)
    assert len([c for c in chunks if c["choices"] and c["choices"][0]["delta"]]) == bench.CHUNKS
    assert chunks[-1]["usage"]["completion_tokens"] == bench.CHUNKS


def test_bench_mode_polls_tasks_that_their_ids_describe() -> None:
    now = time.time()
    runs, fails, clip = BenchTask(now + 60, 1, 1), BenchTask(now, 0, 2), BenchTask(now, 300_000, 3)
    with process.running("--bench") as simulator:
        tasks = simulator.base_url("runway") + "/tasks"
        shown = [httpx.get(f"{tasks}/{task.id}").json() for task in (runs, fails, clip)]
        file = httpx.get(shown[2]["output"][0]).content
        counts = httpx.get(simulator.url + COUNTS).json()
    assert [each["status"] for each in shown] == ["RUNNING", "FAILED", "SUCCEEDED"]
    assert (len(file), read_metadata(file).seconds) == (clip.size, 1)
    assert counts["polls"] == 3
    assert list(counts["told"]) == [fails.id, clip.id]
    assert counts["told"][clip.id] >= now
