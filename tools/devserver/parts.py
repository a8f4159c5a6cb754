"""The parts of the service on one machine: how each is started, and in which order."""

import sys
from collections.abc import Callable
from functools import partial

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from common.shutdown import GRACE_SECONDS
from devserver import postgres, redis
from devserver.configuration import DATABASE, Configuration
from devserver.ports import LOOPBACK, answers
from devserver.service import Service
from devserver.web_app import WebApp

# Web listens last, so its first answer means that everything is ready. It reads the web app's files
# when it starts.
START_ORDER = (
    ("postgres", "redis"),
    ("prepare", "web-app", "model", "speech", "simulator"),
    ("beat", "worker"),
    ("web",),
)
# The parts that serve customers drain while their stores still work.
STOP_ORDER = (
    ("beat", "web", "worker"),
    ("prepare", "web-app", "model", "speech", "simulator"),
    ("redis",),
    ("postgres",),
)

QUEUES = "interactive,media,default"


def parts(configuration: Configuration) -> dict[str, Callable[[], Service]]:
    """A factory for each part that this configuration needs, by name."""
    all_parts = {
        "postgres": _postgres,
        "redis": _redis,
        "prepare": _prepare,
        "web-app": _web_app,
        "model": _model,
        "speech": _speech,
        "simulator": _simulator,
        "beat": _beat,
        "worker": _worker,
        "web": _web,
    }
    unneeded = {
        "postgres": configuration.own_database,
        "redis": configuration.own_redis,
        "model": configuration.own_model,
        "web-app": not configuration.builds_web_app or WebApp().is_built(configuration.web_app),
        "speech": configuration.own_speech or not configuration.has_recogniser,
        "simulator": not configuration.has_simulator,
    }
    return {
        name: partial(make, configuration)
        for name, make in all_parts.items()
        if not unneeded.get(name)
    }


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module, *arguments)


def _postgres(configuration: Configuration) -> Service:
    data = configuration.var / "postgres"
    password = configuration.secrets["postgres"]
    postgres.initialise(data)
    postgres.protect(data, password)
    return postgres.service(data, configuration.ports["postgres"], password=password)


def _redis(configuration: Configuration) -> Service:
    return redis.service(
        configuration.var / "redis",
        configuration.ports["redis"],
        password=configuration.secrets["redis"],
    )


def _prepare(configuration: Configuration) -> Service:
    if not configuration.own_database:
        postgres.create_database(
            configuration.ports["postgres"], DATABASE, configuration.secrets["postgres"]
        )
    return Service(
        name="prepare",
        command=_python("devserver.prepare", *(["--demo"] if configuration.demo else [])),
        env={**configuration.env, "DATABASE_POOL": "0"},
        runs_once=True,
        shows="all",
    )


def _web_app(configuration: Configuration) -> Service:
    folder = configuration.web_app
    kept = "The web app is served as it was built before."
    return Service(
        name="web-app",
        command=_python("devserver.web_app", "build", str(folder)),
        env=configuration.env,
        runs_once=True,
        without=kept if folder.exists() else "There is no web app at /.",
        shows="nothing",
    )


def _model(configuration: Configuration) -> Service:
    port = configuration.ports["model"]
    return Service(
        name="model",
        command=_python("devserver.model", "--port", str(port)),
        env=configuration.env,
        is_ready=lambda: answers(port, "/health"),
        without="The model smollm2-135m is not answered.",
        shows="nothing",
    )


def _speech(configuration: Configuration) -> Service:
    port = configuration.ports["speech"]
    return Service(
        name="speech",
        command=_python("devserver.speech", "--port", str(port)),
        env=configuration.env,
        is_ready=lambda: answers(port, "/health"),
        without="The model pocketsphinx-en is not answered, so speech is not transcribed.",
        shows="nothing",
    )


def _simulator(configuration: Configuration) -> Service:
    port = configuration.ports["simulator"]
    repositories = configuration.var / "repositories"
    return Service(
        name="simulator",
        command=_python("simulator", "--port", str(port), "--repositories", str(repositories)),
        env=configuration.env,
        is_ready=lambda: answers(port, "/_health"),
        without="Models whose provider has no key of yours are not answered, and neither are "
        "the simulated Git hosts, drives and sign-ins.",
    )


def _beat(configuration: Configuration) -> Service:
    schedule = f"--schedule={configuration.var / 'beat-schedule'}"
    return Service(
        name="beat",
        command=_python("celery", "-A", "config", "beat", schedule, "--pidfile="),
        env={**configuration.env_of("beat"), "DATABASE_POOL": "0"},
        without="Nothing is done periodically: mails wait, and what died is not swept up.",
    )


def worker_command(name: str, *, queues: str = QUEUES) -> tuple[str, ...]:
    """A worker as in production, with a name that is unique on its Redis."""
    options = ("--pool=threads", "--queues", queues)
    quieter = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    celery = ("celery", "-A", "config")
    return _python(*celery, "worker", *options, *quieter, "--hostname", name)


def worker_answers(name: str, broker: str) -> bool:
    """Does the worker of that name take messages? False too while its Redis is away."""
    # Connections of its own: those of a pool may lead to a Redis that has died since.
    with Celery(broker=broker, set_as_current=False) as app:
        try:
            return bool(app.control.ping(destination=[name], timeout=0.5, limit=1))
        except (OperationalError, RedisError, OSError):
            return False


def _worker(configuration: Configuration) -> Service:
    name = f"worker@{LOOPBACK}:{configuration.port}"
    return Service(
        name="worker",
        command=worker_command(name),
        env={
            **configuration.env_of("worker"),
            "DATABASE_POOL": "0",
            # As for root in a container.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
        },
        is_ready=lambda: worker_answers(name, configuration.env["REDIS_URL"]),
        without="Councils, runs, studio jobs and mails wait.",
        grace=configuration.drain_seconds + GRACE_SECONDS,
        finishes=f"running calls, up to {configuration.drain_seconds} s",
    )


def web_command(port: int) -> tuple[str, ...]:
    """A web process as in production, on this machine alone."""
    return _python("server.serve", "--host", LOOPBACK, "--port", str(port))


def _web(configuration: Configuration) -> Service:
    return Service(
        name="web",
        command=web_command(configuration.port),
        env=configuration.env_of("web"),
        is_ready=lambda: answers(configuration.port, "/v1/models"),
        grace=configuration.drain_seconds + GRACE_SECONDS,
        finishes=f"running calls, up to {configuration.drain_seconds} s",
    )
