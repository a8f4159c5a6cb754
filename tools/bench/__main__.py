"""`python -m bench`: measures the service beside a bare pass-through and LiteLLM's proxy, the usage
report over a million charges, the requests of a web app, the money functions under pgbench,
sockets, event log and councils, conversations, project runs, repositories and studios, how many
small tasks project runs solve, normal users beside abusive connections, what it costs to watch the
service, how near the bill of an answer is whose provider has not counted it, and what charges and
events take on disk.

Everything is real and runs on this machine: PostgreSQL that waits for its disk, Redis, the rate
limiter, one process for the service and one for each yardstick, and an upstream without delay.
"""

import argparse
import os
import resource
import secrets
import sys

import django

from bench import report
from bench.servers import BenchError
from devserver.errors import LocalError
from devserver.throwaway import Stores, stores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the comparison")
    parser.add_argument("--seconds", type=int, default=4, help="of each measurement in a round")
    parts = (
        "calls",
        "past",
        "live",
        "chat",
        "projects",
        "repositories",
        "quality",
        "studios",
        "abuse",
        "operate",
        "estimates",
        "sizes",
    )
    parser.add_argument("--only", choices=parts, help="one part of it")
    parser.add_argument("--tasks", nargs="*", default=[], help="of the part quality")
    parser.add_argument("--conditions", nargs="*", default=[], help="of the part quality")
    options = parser.parse_args()
    real = _keys() if options.only == "quality" else {}
    _allow_many_sockets()
    print(report.machine(), end="\n\n", flush=True)
    try:
        with stores(durable=True) as started:
            os.environ.update(_production(started))
            django.setup()
            from bench import suite  # needs Django's settings

            suite.run(
                rounds=options.rounds,
                seconds=options.seconds,
                only=options.only,
                tasks=options.tasks,
                conditions=options.conditions,
                real=real,
            )
    except (BenchError, LocalError) as error:
        sys.exit(str(error))


def _keys() -> dict[str, str]:
    """The keys of providers of chat models in the environment, for the part that can do without the
    simulator."""
    names = ("OPENAI", "ANTHROPIC", "GOOGLE", "XAI", "DEEPSEEK", "MISTRAL", "MOONSHOT", "GROQ")
    keys = {f"{name}_API_KEY": os.environ.get(f"{name}_API_KEY", "") for name in names}
    return {name: key for name, key in keys.items() if key}


def _production(started: Stores) -> dict[str, str]:
    """The environment of a production service on these stores, without the upstream."""
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings.prod",
        "DATABASE_URL": started.database_url,
        "REDIS_URL": started.redis_url,
        "SECRET_KEY": secrets.token_hex(32),
        "API_KEY_PEPPER": secrets.token_hex(32),
        "ALLOWED_HOSTS": "127.0.0.1",
        "OPENAI_API_KEY": "unused",
        "RUNWAY_API_KEY": "unused",
        "PUBLIC_BASE_URL": "https://127.0.0.1",
        "OUTPUTS_DIR": f"{started.folder}/outputs",
        "UPLOADS_DIR": f"{started.folder}/uploads",
        "EMAIL_URL": "smtp+tls://127.0.0.1",
        "DEFAULT_FROM_EMAIL": "bench@example.com",
        "OUTBOUND_ALLOWED": "127.0.0.1",
    }


def _allow_many_sockets() -> None:
    """Raise the limit of open files, which the service inherits: a thousand streams need two
    sockets each."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main()
