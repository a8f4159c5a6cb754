"""`python -m simulator --port N`; `--help` lists the options."""

import argparse
from pathlib import Path

from simulator import bench
from simulator.app import Simulator
from simulator.connection import App
from simulator.journal import DEFAULT_LIMIT, Journal
from simulator.server import serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m simulator", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--bench", action="store_true", help="prebuilt answers, no journal")
    parser.add_argument("--journal-limit", type=int, default=DEFAULT_LIMIT, help="calls kept")
    parser.add_argument("--repositories", type=Path, help="the folder of the Git hosts")
    parser.add_argument("--until-eof", action="store_true", help="end when stdin ends")
    options = parser.parse_args()
    if not 0 <= options.port <= 65535:
        parser.error("--port must lie between 0 and 65535")
    if options.journal_limit < 1:
        parser.error("--journal-limit must be at least 1")
    if options.bench:
        app: App = bench.application
    else:
        app = Simulator(Journal(limit=options.journal_limit), options.repositories)
    serve(app, port=options.port, resettable=not options.bench, until_eof=options.until_eof)


if __name__ == "__main__":
    main()
