"""`python -m devserver run`: the whole service on this machine, until Ctrl-C.

`python -m devserver exec COMMAND...`: a command in the environment of the service that runs.

`python -m devserver web`: the development server of the web app, beside it.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import NoReturn

import environ

from devserver import configuration
from devserver.console import Console
from devserver.errors import LocalError
from devserver.parts import START_ORDER, STOP_ORDER, parts
from devserver.paths import ROOT
from devserver.ports import is_free
from devserver.records import Records
from devserver.supervisor import Supervisor
from devserver.web_app import WebApp


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m devserver", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("run", help="start the whole service")
    execute = commands.add_parser("exec", help="run a command beside it")
    execute.add_argument("command", nargs=argparse.REMAINDER)
    commands.add_parser("web", help="serve the web app's sources beside it")
    options = parser.parse_args()
    environ.Env.read_env(ROOT / ".env")
    try:
        match options.what:
            case "run":
                return run()
            case "web":
                serve_sources_beside()
            case _:
                return execute_beside(options.command)
    except LocalError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the one sentence
        return 1


def run() -> int:
    """Start everything and stay until told to stop; returns the exit code."""
    console = Console()
    var = configuration.var_folder(os.environ)
    configuration.keep_private(var)
    records = Records(var / "run")
    records.lock()
    if ended := records.end_leftovers():
        console.say(f"ended what an earlier run had left: {', '.join(ended)}")
    local = configuration.resolve(os.environ, var)
    configuration.check(local)
    supervisor = Supervisor(
        parts(local),
        start_order=START_ORDER,
        stop_order=STOP_ORDER,
        console=console,
        records=records,
        logs=var / "log",
    )
    console.say(f"starting; the full logs are in {var / 'log'}")
    return supervisor.run(when_ready=lambda: console.show(_welcome(local)))


def execute_beside(command: list[str]) -> int:
    """Become `command`, with the stores and ports of the service that runs."""
    local = configuration.resolve(os.environ, configuration.var_folder(os.environ), running=True)
    if not local.own_database and is_free(local.ports.get("postgres", 0)):
        raise LocalError("Nothing runs here: start it with `make run` in another terminal.")
    os.execvpe(command[0], command, {**os.environ, **local.env})  # noqa: S606 - no shell wanted


def serve_sources_beside() -> NoReturn:
    """Become Vite's development server, which shows a change of the web app's sources at once and
    passes calls on to the service at SERVICE_URL, or else to the one that runs here."""
    demo = configuration.var_folder(os.environ) / "demo.json"
    url = os.environ.get("SERVICE_URL") or _base_url(demo)
    WebApp().serve(SERVICE_URL=url)


def _base_url(demo: Path) -> str:
    if not demo.exists():
        raise LocalError("Nothing has run here: start it with `make run` in another terminal.")
    url: str = json.loads(demo.read_text())["base_url"]
    return url


def _welcome(local: configuration.Configuration) -> str:
    """The next steps for the user: addresses, the demo credentials, and a call to paste."""
    lines = ["", f"Ready on {local.base_url}   (Ctrl-C stops everything)", ""]
    lines += [f"Documentation  {local.base_url}/docs", f"Admin          {local.base_url}/admin/"]
    lines += [f"Full logs      {local.var / 'log'}"]
    if not local.demo:
        lines += ["No demo account in a database of yours; DEMO=1 makes one.", ""]
        return "\n".join(lines)
    demo = json.loads((local.var / "demo.json").read_text())
    lines += [
        f"Demo account   {demo['email']}  {demo['password']}",
        f"Operator       {demo['admin_email']}  {demo['admin_password']}",
        f"API key        {demo['api_key']}",
        f"  for agents   {demo['agent_api_key']}",
        "",
        f"These are in {local.var / 'demo.json'}. Try:",
        "",
        f"curl -N {local.base_url}/v1/chat/completions \\",
        f"  -H 'Authorization: Bearer {demo['api_key']}' -H 'Content-Type: application/json' \\",
        '  -d \'{"model": "smollm2-135m", "stream": true,',
        '       "messages": [{"role": "user", "content": "What is the capital of France?"}]}\'',
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
