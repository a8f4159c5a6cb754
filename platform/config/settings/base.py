"""Settings shared by every environment. Differences are read from the environment or `.env`."""

import ssl
from pathlib import Path
from typing import Any

import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured

from accounts.features import features_of
from ai.providers.config import SIMULATED_BY_DEFAULT, from_environ
from common.logging import LEVELS
from common.shutdown import drain_seconds, notice_seconds
from common.watched_connections import WatchedConnection
from config.environment import Environment
from config.settings.admin import *
from config.settings.beat import *
from config.settings.rest import *
from integrations.connectors import providers as connectors
from integrations.safe_http.addresses import allowed_networks
from media.files.storages import folder_storage, outputs_storage

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parents[3]

env = Environment()
Environment.read_env(BASE_DIR / ".env")

# The local default's folder for stores, logs and credentials.
VAR_DIR = Path(env.str("VAR_DIR", str(BASE_DIR / "var")))

# Do the rules of config/checks.py apply?
PRODUCTION = False
DEBUG = False
SECRET_KEY: str = env.str("SECRET_KEY", "")
# Earlier ones: they verify, and sign nothing.
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", default=[])
# Stored secrets are encrypted under the first of these, and decrypted with any. Without one,
# SECRET_KEY and its fallbacks do both.
ENCRYPTION_KEYS: list[str] = env.list("ENCRYPTION_KEYS", default=[])
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=[])
# A host that serves `/v1` only.
API_HOST: str = env.str("API_HOST", "").lower()
PUBLIC_BASE_URL: str = env.str("PUBLIC_BASE_URL", "http://127.0.0.1:8000")
# The address of the web app: links in mails lead there.
WEB_APP_URL: str = env.str("WEB_APP_URL", PUBLIC_BASE_URL)
# Is the build of the web app in this folder served at `/`, where there is one?
WEB_APP: bool = env.bool("WEB_APP", True)
WEB_APP_DIR: str = env.str("WEB_APP_DIR", "") or str(VAR_DIR / "web")
# The number of our proxies that append to X-Forwarded-For.
TRUSTED_PROXY_HOPS: int = env.int("TRUSTED_PROXY_HOPS", 0)

INSTALLED_APPS = [
    "config.apps.ProjectConfig",
    "common",
    # Before the theme, some of whose templates are replaced.
    "admin_ui",
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "config.apps.OperatorAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "servestatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "corsheaders",
    "rest_framework",
    "drf_spectacular_sidecar",
    "channels",
    "ai.catalog",
    "ai.provider_health",
    "media.files",
    "content",
    "accounts",
    "events",
    "work.leases",
    "billing",
    "ai.inference",
    "work.jobs",
    "ai.operations",
    "privacy",
    "integrations.connectors",
    "integrations.workspaces",
    "teams",
    "conversations",
    "projects",
    "council",
    "studios",
    "publicapi",
]

MIDDLEWARE = [
    # Outermost, so that web apps can read refusals too. Refusals in front of Django pass through
    # these two as well (server/refuse.py).
    "corsheaders.middleware.CorsMiddleware",
    "common.middleware.request_id_middleware",
    "common.middleware.request_guard_middleware",
    "common.compression.compression_middleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Web apps on other origins -------------------------------------------------------------------
# They call /api with a bearer token, never with cookies; /v1 and /files have rules of their own.

CORS_ALLOWED_ORIGINS: list[str] = env.list("CORS_ALLOWED_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = [
    "accept",
    "authorization",
    "content-type",
    "idempotency-key",
    "if-none-match",
    "last-event-id",
    "x-request-id",
]
CORS_EXPOSE_HEADERS = [
    "content-disposition",
    "etag",
    "idempotency-replayed",
    "link",
    "retry-after",
    "x-next-seq",
    "x-request-id",
]

# Can nobody else read the network between processes, stores and metrics? Then they need no TLS.
PRIVATE_NETWORK: bool = env.bool("PRIVATE_NETWORK", False)

# --- Stores -------------------------------------------------------------------------------------
# PostgreSQL is the only source of truth; Redis carries notifications, rate counters and the broker.

DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/platform")
}
# ASGI threads come and go, so connections live in a pool, not in threads. Workers set
# DATABASE_POOL=0: their threads persist, and keep their connections. Both check a connection before
# use.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASES["default"]["ENGINE"] = "common.postgresql"
# A frozen server accepts connections and never answers; one that is cut off answers nothing at all.
_PATIENCE = {
    "connect_timeout": 2,  # seconds
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}
DATABASES["default"]["OPTIONS"] = _PATIENCE | DATABASES["default"].get("OPTIONS", {})
# Is there a pooler in between that gives a session to one transaction after the other, such as
# PgBouncer with pool_mode=transaction? Nothing is then left in a session.
DATABASE_POOLER: str = env.str("DATABASE_POOLER", "")
if DATABASE_POOLER not in ("", "transaction"):
    raise ImproperlyConfigured(
        f"DATABASE_POOLER is transaction or nothing, not {DATABASE_POOLER!r}."
    )
if DATABASE_POOLER:
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
else:
    # The longest wait for a row's lock, unless the URL sets another one.
    DATABASES["default"]["OPTIONS"]["options"] = (
        f"-c lock_timeout=10s {DATABASES['default']['OPTIONS'].get('options', '')}".rstrip()
    )
# What runs, and connections that are left to others: `manage.py check_connections` adds up.
WEB_PROCESSES: int = env.int("WEB_PROCESSES", 1)
WORKER_PROCESSES: int = env.int("WORKER_PROCESSES", 1)
RESERVED_CONNECTIONS: int = env.int("RESERVED_CONNECTIONS", 10)
DATABASE_POOL_SIZE: int = env.int("DATABASE_POOL_SIZE", 8)
if env.bool("DATABASE_POOL", True):
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    DATABASES["default"]["OPTIONS"]["pool"] = {
        "min_size": 0,
        "max_size": DATABASE_POOL_SIZE,
        "connection_class": WatchedConnection,
        # The pool's own attempts come further and further apart; a request that finds them given up
        # starts new ones.
        "reconnect_timeout": 3.0,
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 600

REDIS_URL: str = env.str("REDIS_URL", "redis://127.0.0.1:6379/0")
# Each web process uses one channel of this layer. With a layer named `default`, Channels would open
# one more for every socket.
CHANNEL_LAYERS = {
    "notifier": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_connect_timeout": 5}]},
    }
}

# Models' files and users' uploads: folders that all processes share. Models' files are in a bucket
# where one is named.
OUTPUTS_BUCKET: str = env.str("OUTPUTS_BUCKET", "")
OUTPUTS_BUCKET_ENDPOINT: str = env.str("OUTPUTS_BUCKET_ENDPOINT", "")
OUTPUTS_DIR: str = env.str("OUTPUTS_DIR", str(VAR_DIR / "outputs"))
UPLOADS_DIR: str = env.str("UPLOADS_DIR", str(VAR_DIR / "uploads"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "outputs": outputs_storage(
        folder=OUTPUTS_DIR,
        bucket=OUTPUTS_BUCKET,
        endpoint=OUTPUTS_BUCKET_ENDPOINT,
        region=env.str("OUTPUTS_BUCKET_REGION", ""),
        access_key=env.str("OUTPUTS_BUCKET_KEY_ID", ""),
        secret_key=env.str("OUTPUTS_BUCKET_SECRET", ""),
    ),
    "uploads": folder_storage(UPLOADS_DIR),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Files of users and models: whatever the umask, nobody else on the machine may read them.
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700

# The limit of one user's uploads, in millions of bytes.
UPLOAD_QUOTA_MB: int = env.int("UPLOAD_QUOTA_MB", 1000)
# What the results of one user's jobs may take up, in MB.
STUDIO_QUOTA_MB: int = env.int("STUDIO_QUOTA_MB", 10_000)
# Days after which files of studios are deleted; 0: never.
# Months for which charges are kept; 0: for ever.
CHARGES_KEPT_MONTHS: int = env.int("CHARGES_KEPT_MONTHS", 0)
# Days for which jobs are kept after their end, and events in the streams of users.
JOBS_KEPT_DAYS: int = env.int("JOBS_KEPT_DAYS", 7)
USER_EVENTS_KEPT_DAYS: int = env.int("USER_EVENTS_KEPT_DAYS", 7)
STUDIO_RETENTION_DAYS: int = env.int("STUDIO_RETENTION_DAYS", 0)

# --- Accounts -----------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
# Of the admin's sessions; `/api` has tokens of its own (accounts/authentication.py).
AUTHENTICATION_BACKENDS = ["accounts.backends.OperatorBackend"]
PASSWORD_HASHERS = [
    "accounts.hashers.BoundedArgon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "accounts.services.password_rules.VarietyValidator"}]
# A session of the web app ends after this many days, however often it is refreshed.
SESSION_LIFETIME_DAYS: int = env.int("SESSION_LIFETIME_DAYS", 90)
# Must operators set up a second factor before any page of the admin?
OPERATORS_NEED_SECOND_FACTOR = False
# API keys are stored as HMAC-SHA256 under this pepper: a database dump alone is useless.
API_KEY_PEPPER: str = env.str("API_KEY_PEPPER", "")
# Earlier ones: keys are found under them, and hashed under API_KEY_PEPPER when they are used.
API_KEY_PEPPER_FALLBACKS: list[str] = env.list("API_KEY_PEPPER_FALLBACKS", default=[])
# Sign-in with Google: the accepted client ids, of which the first is the web app's, the page that
# signs people in, and the URL of its keys. Off without a client id.
GOOGLE_CLIENT_IDS: list[str] = env.list("GOOGLE_CLIENT_IDS", default=[])
GOOGLE_ISSUERS: list[str] = env.list(
    "GOOGLE_ISSUERS", default=["https://accounts.google.com", "accounts.google.com"]
)
GOOGLE_AUTHORIZE_URL: str = env.str(
    "GOOGLE_AUTHORIZE_URL", "https://accounts.google.com/o/oauth2/v2/auth"
)
GOOGLE_JWKS_URL: str = env.str("GOOGLE_JWKS_URL", "https://www.googleapis.com/oauth2/v3/certs")

# The mail server's URL; by default mails are written to the worker's output.
mail_server = env.email_url("EMAIL_URL", "consolemail://")
EMAIL_BACKEND: str = mail_server["EMAIL_BACKEND"]
EMAIL_HOST: str = mail_server["EMAIL_HOST"]
EMAIL_PORT: int | None = mail_server["EMAIL_PORT"]
EMAIL_HOST_USER: str | None = mail_server["EMAIL_HOST_USER"]
EMAIL_HOST_PASSWORD: str | None = mail_server["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS: bool = mail_server.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL: bool = mail_server.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL: str = env.str("DEFAULT_FROM_EMAIL", "noreply@localhost")

# The limits of one network (an IPv4 /24, an IPv6 /48): new accounts a day, and reset mails an hour.
MAX_SIGN_UPS_PER_NETWORK: int = env.int("MAX_SIGN_UPS_PER_NETWORK", 200)
MAX_EMAILS_PER_NETWORK: int = env.int("MAX_EMAILS_PER_NETWORK", 60)

# --- Outbound calls -----------------------------------------------------------------------------

# Addresses and networks of your own that calls to users' servers may reach, like 10.1.0.0/16 or
# 127.0.0.1:8080; all others that are not public are refused.
OUTBOUND_ALLOWED: list[str] = env.list("OUTBOUND_ALLOWED", default=[])
try:
    allowed_networks(tuple(OUTBOUND_ALLOWED))
except ValueError as error:
    raise ImproperlyConfigured(f"OUTBOUND_ALLOWED: {error}") from None

# --- Connectors ---------------------------------------------------------------------------------

# Whose accounts users can connect, with our client there: GITHUB_CLIENT_ID, ...
CONNECTORS = connectors.from_environ(env.ENVIRON)
# The pages of the web app on which a consent may end; the first one is the usual.
CONNECTOR_PAGES: list[str] = env.list("CONNECTOR_PAGES", default=[f"{WEB_APP_URL}/connectors"])

# --- Inference ----------------------------------------------------------------------------------

# Which upstream providers can be called, and how: OPENAI_API_KEY, OPENAI_BASE_URL, ...
SIMULATOR_URL: str = env.str("SIMULATOR_URL", "")
SIMULATED_PROVIDERS: list[str] = env.list(
    "SIMULATED_PROVIDERS", default=sorted(SIMULATED_BY_DEFAULT) if SIMULATOR_URL else []
)
PROVIDERS = from_environ(
    env.ENVIRON, simulated=frozenset(SIMULATED_PROVIDERS), simulator_url=SIMULATOR_URL
)
# So many failed calls of a model in so many seconds cause a probe, a call of the platform's own; so
# many failures that no request can cause open the circuit, as a probe does that fails. Without a
# probe it closes after so many seconds (docs/decisions/0066).
CIRCUIT_WINDOW_SECONDS: int = env.int("CIRCUIT_WINDOW_SECONDS", 60)
CIRCUIT_FAILURES: int = env.int("CIRCUIT_FAILURES", 3)
# A call that has brought nothing for so many seconds counts among the failed ones.
CIRCUIT_SILENT_SECONDS: int = env.int("CIRCUIT_SILENT_SECONDS", 20)
CIRCUIT_FAULTS: int = env.int("CIRCUIT_FAULTS", 1)
CIRCUIT_OPEN_SECONDS: int = env.int("CIRCUIT_OPEN_SECONDS", 15)
# Seconds that a probe may take, and the least between two probes of a model by all processes.
PROBE_SECONDS: int = env.int("PROBE_SECONDS", 5)
PROBE_PAUSE_SECONDS: int = env.int("PROBE_PAUSE_SECONDS", 5)
# The daily limit (UTC) on the costs of probes. When it is spent, there are none.
PROBE_DAILY_BUDGET_USD: int = env.int("PROBE_DAILY_BUDGET_USD", 5)
# A caller whose calls of a model fail so often in a row is refused there alone for so many seconds,
# and longer with each further failure. So many failed calls in so many seconds are the quota of an
# account, and of all free accounts of a network together.
CALLER_FAILURES: int = env.int("CALLER_FAILURES", 5)
CALLER_PAUSE_SECONDS: int = env.int("CALLER_PAUSE_SECONDS", 5)
FAILED_CALLS_SECONDS: int = env.int("FAILED_CALLS_SECONDS", 600)
FAILED_CALLS: int = env.int("FAILED_CALLS", 200)
FREE_FAILED_CALLS: int = env.int("FREE_FAILED_CALLS", 20)
# Open runners per process; over it a request is refused before any hold.
MAX_OPEN_CALLS: int = env.int("MAX_OPEN_CALLS", 2000)
# Connections that the calls of a process share, beside those that its lanes keep.
HOT_POOL_SIZE: int = env.int("HOT_POOL_SIZE", 8)
# Seconds that running calls are given to end after SIGTERM; common.shutdown says what follows. Of
# these, the seconds in which a web process goes on taking connections.
try:
    DRAIN_SECONDS: int = drain_seconds(env.ENVIRON)
    NOTICE_SECONDS: int = notice_seconds(env.ENVIRON)
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from None

# What new API keys can do beyond text: some of `tools`, `structured_outputs` and `vision`.
try:
    DEFAULT_KEY_FEATURES = features_of(env.list("DEFAULT_KEY_FEATURES", default=[]))
except ValueError as error:
    raise ImproperlyConfigured(f"DEFAULT_KEY_FEATURES {error}.") from None
# The model of a chat whose user has chosen none.
DEFAULT_CHAT_MODEL: str = env.str("DEFAULT_CHAT_MODEL", "gpt-6-luna")
# The speech model where a request names none.
DEFAULT_SPEECH_MODEL: str = env.str("DEFAULT_SPEECH_MODEL", "gpt-transcribe")
# The model that gives conversations their titles, at the platform's cost; empty: titles are the
# first line.
TITLE_MODEL: str = env.str("TITLE_MODEL", "claude-haiku-5-5")
# The daily limit (UTC) on the platform's costs for the free plan's chat.
FREE_DAILY_BUDGET_USD: int = env.int("FREE_DAILY_BUDGET_USD", 100)
# The part of it, in percent, for all accounts with an unverified address together.
FREE_UNVERIFIED_PERCENT: int = env.int("FREE_UNVERIFIED_PERCENT", 10)
# May accounts credit themselves without paying? Development only.
SELF_SERVICE_TOPUP = False
# May demo accounts be created (`manage.py create_demo`)? The local default allows it in a database
# of its own; in another one the user has to. Development only.
DEMO_SEEDS: bool = env.bool("DEMO", False)
# Their credentials, as the local default keeps them.
DEMO_FILE = VAR_DIR / "demo.json"

# --- Sockets ------------------------------------------------------------------------------------

# Open sockets per process, and of one user in each.
MAX_SOCKETS: int = env.int("MAX_SOCKETS", 10_000)
MAX_SOCKETS_PER_USER: int = env.int("MAX_SOCKETS_PER_USER", 50)
# Seconds between pings. Sockets' tokens are checked as often.
SOCKET_TICK_SECONDS: float = env.float("SOCKET_TICK_SECONDS", 20)

# --- Background work ----------------------------------------------------------------------------

# Jobs that a worker runs at the same time; others wait, or go to another worker.
MAX_OPEN_JOBS: int = env.int("MAX_OPEN_JOBS", 200)
# Due jobs of one provider that all workers together continue in a second; others wait.
MAX_POLLS_PER_SECOND: int = env.int("MAX_POLLS_PER_SECOND", 100)
# Waiting and running jobs of one user; over it a request that starts more is refused.
MAX_RUNNING_CALLS: int = env.int("MAX_RUNNING_CALLS", 64)
# Generation jobs of one user that have not ended.
MAX_STUDIO_JOBS: int = env.int("MAX_STUDIO_JOBS", 20)
# A worker that takes no messages for this many seconds, although some wait, ends itself.
CONSUMER_STALL_SECONDS = 60.0

CELERY_BROKER_URL = REDIS_URL
# Celery would take any certificate; the other clients of Redis check it by themselves.
if REDIS_URL.startswith("rediss:"):
    CELERY_BROKER_USE_SSL = {"ssl_cert_reqs": ssl.CERT_REQUIRED}
# A broker that does not answer counts as a broken connection.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 5, "socket_timeout": 5}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
# A thread of any worker takes a message only when it is free.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_DISABLE_PREFETCH = True
# Threads of a worker that hand jobs over and run periodic tasks.
WORKER_CONCURRENCY: int = env.int("WORKER_CONCURRENCY", 4)
CELERY_WORKER_CONCURRENCY = WORKER_CONCURRENCY
CELERY_WORKER_CONSUMER = "work.jobs.consumer:Consumer"
CELERY_TASK_DEFAULT_QUEUE = "default"

# --- Logs ---------------------------------------------------------------------------------------

# `common.logging.configure` does all of it, once the apps are loaded.
LOGGING_CONFIG = None
LOG_JSON: bool = env.bool("LOG_JSON", False)
# The lowest level that is written: DEBUG, INFO, WARNING, ERROR or CRITICAL.
LOG_LEVEL: str = env.str("LOG_LEVEL", "INFO").upper()
if LOG_LEVEL not in LEVELS:
    raise ImproperlyConfigured(f"LOG_LEVEL is one of {', '.join(LEVELS)}, not {LOG_LEVEL!r}.")

# The level of the lines of requests that did not fail by our fault.
REQUEST_LOG_LEVEL: str = env.str("REQUEST_LOG_LEVEL", "INFO").upper()
if REQUEST_LOG_LEVEL not in LEVELS:
    raise ImproperlyConfigured(
        f"REQUEST_LOG_LEVEL is one of {', '.join(LEVELS)}, not {REQUEST_LOG_LEVEL!r}."
    )

# --- Metrics ------------------------------------------------------------------------------------

# The port on which this process alone shows its metrics; off where it is empty. It is never public.
METRICS_PORT: str = env.str("METRICS_PORT", "")
METRICS_HOST: str = env.str("METRICS_HOST", "127.0.0.1")

# --- Traces and reports of errors ----------------------------------------------------------------

# The collector of traces; off where it is empty. The SDK reads all other variables of OpenTelemetry
# itself (OTEL_*).
OTEL_EXPORTER_OTLP_ENDPOINT: str = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", "")
# Where unhandled errors are reported to; off where it is empty.
SENTRY_DSN: str = env.str("SENTRY_DSN", "")
SENTRY_ENVIRONMENT: str = env.str("SENTRY_ENVIRONMENT", "production")

# --- The rest -----------------------------------------------------------------------------------

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Security headers are added to all responses by config/headers.py, not by Django.
SECURE_HSTS_SECONDS = 0
