"""The local default's configuration, from the environment."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psycopg
import redis as redis_client
from environ import Env
from psycopg.conninfo import conninfo_to_dict

from common.shutdown import drain_seconds, notice_seconds
from devserver import postgres, redis
from devserver.errors import LocalError
from devserver.paths import PYTHONPATH, ROOT
from devserver.ports import LOOPBACK, choose_ports, is_free, noted_ports
from observability.metrics.server import port_of

DATABASE = "platform"
CONNECTOR_CLIENTS = ("GITHUB_CLIENT_ID", "GITLAB_CLIENT_ID", "GOOGLE_DRIVE_CLIENT_ID")
METRICS = ("web", "worker", "beat")
INTERNAL = ("postgres", "redis", "model", "speech", "simulator")


@dataclass(frozen=True)
class Configuration:
    """The resolved configuration. With the user's own store or model, we start none; with the
    user's own client ids, the simulator does not stand in for Google's sign-in; a user's own folder
    of the web app is not built. Without the recogniser's wheel there is none.

    `metrics_port` is the first of the ports of METRICS, one for each of these parts.

    `ports` are the internal ones, by name of the part; `secrets`, the passwords of our own stores.
    """

    var: Path
    port: int
    own_database: str
    own_redis: str
    own_model: str
    own_speech: str
    has_recogniser: bool
    default_speech_model: str
    own_client_ids: str | None
    has_simulator: bool
    builds_web_app: bool
    demo: bool
    drain_seconds: int
    metrics_port: int | None
    ports: Mapping[str, int]
    secrets: Mapping[str, str] = field(repr=False)

    @property
    def base_url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def web_app(self) -> Path:
        """The folder that the web app is built into."""
        return self.var / "web"

    @property
    def simulator_url(self) -> str:
        return f"http://{LOOPBACK}:{self.ports['simulator']}" if self.has_simulator else ""

    @property
    def speech_url(self) -> str:
        served = f"http://{LOOPBACK}:{self.ports['speech']}/v1" if self.has_recogniser else ""
        return self.own_speech or served

    @property
    def metrics_ports(self) -> dict[str, int]:
        """The port on which each part shows its metrics; none where METRICS_PORT is not set."""
        first = self.metrics_port
        return {} if first is None else {name: first + at for at, name in enumerate(METRICS)}

    def env_of(self, part: str) -> dict[str, str]:
        """The environment of a part that can show its metrics."""
        port = self.metrics_ports.get(part)
        return {**self.env, **({"METRICS_PORT": str(port)} if port else {})}

    @property
    def env(self) -> dict[str, str]:
        """The environment of every process of the service."""
        return {
            "PYTHONPATH": PYTHONPATH,
            "PYTHONUNBUFFERED": "1",
            "DJANGO_SETTINGS_MODULE": "config.settings.dev",
            "VAR_DIR": str(self.var),
            "PUBLIC_BASE_URL": os.environ.get("PUBLIC_BASE_URL") or self.base_url,
            "DATABASE_URL": self.own_database
            or postgres.url(self.ports["postgres"], DATABASE, self.secrets["postgres"]),
            "REDIS_URL": self.own_redis
            or redis.url(self.ports["redis"], password=self.secrets["redis"]),
            "LOCAL_MODEL_URL": self.own_model or f"http://{LOOPBACK}:{self.ports['model']}/v1",
            "LOCAL_SPEECH_URL": self.speech_url,
            "DEFAULT_SPEECH_MODEL": self.default_speech_model,
            "SIMULATOR_URL": self.simulator_url,
            "OUTBOUND_ALLOWED": self._outbound_allowed,
            "DEMO": "1" if self.demo else "0",
            **self._identity_provider,
            **self._connectors,
        }

    @property
    def _connectors(self) -> dict[str, str]:
        """The simulated authorization servers, where the environment names no client."""
        if not self.has_simulator or any(os.environ.get(name) for name in CONNECTOR_CLIENTS):
            return {}
        return simulated_connectors(self.simulator_url)

    @property
    def _outbound_allowed(self) -> str:
        """What the environment names, and the simulator."""
        named = os.environ.get("OUTBOUND_ALLOWED", "")
        simulator = self.simulator_url.removeprefix("http://")
        return ",".join(each for each in (named, simulator) if each)

    @property
    def _identity_provider(self) -> dict[str, str]:
        """The issuer of sign-ins, where the environment names none."""
        if self.own_client_ids is not None or not self.has_simulator:
            return {}
        return {
            "GOOGLE_CLIENT_IDS": "simulator",
            "GOOGLE_ISSUERS": "https://identity.simulator.test",
            "GOOGLE_AUTHORIZE_URL": f"{self.simulator_url}/identity/authorize",
            "GOOGLE_JWKS_URL": f"{self.simulator_url}/identity/jwks",
        }


def simulated_connectors(simulator_url: str) -> dict[str, str]:
    """The environment of a service whose users connect accounts at the simulated servers."""
    clients = {
        name: value
        for client_id in CONNECTOR_CLIENTS
        for name, value in (
            (client_id, "simulator"),
            (client_id.replace("_ID", "_SECRET"), "simulator-secret"),
        )
    }
    return {
        **clients,
        "GITHUB_URL": f"{simulator_url}/github",
        "GITLAB_URL": f"{simulator_url}/gitlab",
        "GOOGLE_ACCOUNTS_URL": f"{simulator_url}/google-accounts",
        "GOOGLE_OAUTH_URL": f"{simulator_url}/google-accounts",
        "GOOGLE_DRIVE_URL": f"{simulator_url}/google-drive/drive/v3",
    }


def var_folder(environ: Mapping[str, str]) -> Path:
    """The folder for everything local, created if needed. Raises LocalError if it is read-only."""
    # Without `..` and links: PostgreSQL reports its folder in this form, and is recognised by it.
    var = Path(os.path.realpath(environ.get("VAR_DIR") or ROOT / "var"))
    try:
        for folder in (var / "run", var / "log"):
            folder.mkdir(parents=True, exist_ok=True)
        (var / "run" / "writable").touch()
        (var / "run" / "writable").unlink()
    except OSError as error:
        raise LocalError(
            f"Nothing can be written to {var} ({error.strerror}). "
            "Set VAR_DIR to a folder of yours, or run from a copy of the project."
        ) from None
    return var


def keep_private(var: Path) -> None:
    """Make `var` private to our user, the files of earlier runs too: logs contain links that reset
    passwords."""
    os.umask(0o077)
    for path in var.iterdir():
        if path.name != "postgres" and not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)
    var.chmod(0o711 if postgres.runs_as_another_user() else 0o700)


def _secrets(path: Path) -> dict[str, str]:
    """The passwords of our own stores, by name of the part, created if needed."""
    if not path.exists():
        passwords = {name: secrets.token_hex(16) for name in ("postgres", "redis")}
        path.touch(mode=0o600)
        path.write_text(json.dumps(passwords))
    kept: dict[str, str] = json.loads(path.read_text())
    return kept


def resolve(environ: Mapping[str, str], var: Path, *, running: bool = False) -> Configuration:
    """The configuration that `environ` asks for; ports are chosen, or if `running`, read.

    Raises LocalError for a PORT or METRICS_PORT that is no port, and a DRAIN_SECONDS or
    NOTICE_SECONDS that is none.
    """
    text = environ.get("PORT") or "8000"
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise LocalError(f"PORT must be a number from 1 to 65535, not {text!r}.")
    noted = var / "ports.json"
    ports = noted_ports(noted) if running else choose_ports(noted, INTERNAL, but=int(text))
    own_database = environ.get("DATABASE_URL", "")
    has_recogniser = find_spec("pocketsphinx") is not None
    return Configuration(
        var=var,
        port=int(text),
        own_database=own_database,
        own_redis=environ.get("REDIS_URL", ""),
        own_model=environ.get("LOCAL_MODEL_URL", ""),
        own_speech=environ.get("LOCAL_SPEECH_URL", ""),
        has_recogniser=has_recogniser,
        default_speech_model=_default_speech_model(environ, has_recogniser=has_recogniser),
        own_client_ids=environ.get("GOOGLE_CLIENT_IDS"),
        # Set to nothing, SIMULATED_PROVIDERS says that no provider is simulated.
        has_simulator=environ.get("SIMULATED_PROVIDERS") != "",
        builds_web_app=_builds_web_app(environ),
        # Demo accounts are for our own database; in another one only on request.
        demo=not own_database or environ.get("DEMO") == "1",
        drain_seconds=_drain_seconds(environ),
        metrics_port=_metrics_port(environ),
        ports=ports,
        secrets=_secrets(var / "secrets.json"),
    )


def check(configuration: Configuration) -> None:
    """Raises LocalError when the port is taken, or a store of the user's does not answer."""
    if not is_free(configuration.port):
        raise LocalError(
            f"Port {configuration.port} is in use by another program. "
            f"Choose another one: PORT={configuration.port + 1} make run"
        )
    for part, metrics_port in configuration.metrics_ports.items():
        if metrics_port == configuration.port or not is_free(metrics_port):
            raise LocalError(
                f"Port {metrics_port} is in use, and the metrics of the {part} are to be there: "
                f"METRICS_PORT is the first of {len(METRICS)} ports that have to be free."
            )
    if configuration.own_database:
        _check_database(configuration.own_database)
    if configuration.own_redis:
        _check_redis(configuration.own_redis)


def _builds_web_app(environ: Mapping[str, str]) -> bool:
    is_shown = (environ.get("WEB_APP") or "on").lower() in Env.BOOLEAN_TRUE_STRINGS
    return is_shown and not environ.get("WEB_APP_DIR")


def _drain_seconds(environ: Mapping[str, str]) -> int:
    try:
        notice_seconds(environ)
        return drain_seconds(environ)
    except ValueError as error:
        raise LocalError(str(error)) from None


def _metrics_port(environ: Mapping[str, str]) -> int | None:
    try:
        first = port_of(environ.get("METRICS_PORT", ""))
        if first is not None:
            port_of(str(first + len(METRICS) - 1))
    except ValueError as error:
        raise LocalError(str(error)) from None
    return first


def _default_speech_model(environ: Mapping[str, str], *, has_recogniser: bool) -> str:
    """The recogniser rather than the simulator's speech model."""
    is_local = has_recogniser and not environ.get("OPENAI_API_KEY")
    return environ.get("DEFAULT_SPEECH_MODEL") or (
        "pocketsphinx-en" if is_local else "gpt-transcribe"
    )


def _check_database(url: str) -> None:
    try:
        where = conninfo_to_dict(url)
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.ProgrammingError:
        raise LocalError(
            "DATABASE_URL is not of the form postgres://user:password@host:5432/name."
        ) from None
    except psycopg.OperationalError as error:
        # libpq says what failed in the first line, and asks a question in the next.
        reason = str(error).strip().splitlines()[0]
        raise LocalError(
            f"The database of DATABASE_URL, {where.get('dbname')} on {where.get('host')}, cannot "
            f"be used ({reason}). Start it, or unset DATABASE_URL to have one started for you."
        ) from None


def _check_redis(url: str) -> None:
    try:
        with redis_client.Redis.from_url(url, socket_connect_timeout=5) as client:
            client.ping()
    except ValueError:
        raise LocalError("REDIS_URL is not of the form redis://host:6379/0.") from None
    except redis_client.RedisError as error:
        raise LocalError(
            f"The Redis of REDIS_URL does not answer ({error}). "
            "Start it, or unset REDIS_URL to have one started for you."
        ) from None
