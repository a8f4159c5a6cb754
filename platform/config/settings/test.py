"""Settings of the test suite: production's code paths, fast password hashing."""

from ai.providers.config import from_environ
from config.settings.base import *
from integrations.connectors import providers as connectors

# A test may start processes that have others.
SECRET_KEY = env.str("SECRET_KEY", "test-only-secret-key-of-more-than-32-bytes")
API_KEY_PEPPER = env.str("API_KEY_PEPPER", "test-only-pepper")
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Without the developer's own keys: no test calls a provider that costs money.
PROVIDERS = from_environ({}, simulated=frozenset(SIMULATED_PROVIDERS), simulator_url=SIMULATOR_URL)
CONNECTORS = connectors.from_environ({})
# Static files are served from their source folders, as in development.
SERVESTATIC_USE_FINDERS = True
# Whatever is built in the working copy: tests of the web app have builds of their own.
WEB_APP = env.bool("WEB_APP", False)
# Off as in production, but a test may start a process that has it on.
SELF_SERVICE_TOPUP = env.bool("SELF_SERVICE_TOPUP", False)
# The demo, and kinds of jobs that only tests have.
INSTALLED_APPS = [
    *INSTALLED_APPS,
    "demo",
    "work.jobs.tests.apps.JobsTestsConfig",
    "ai.operations.tests.apps.OperationsTestsConfig",
]
# The simulator, and hosts that tests script.
OUTBOUND_ALLOWED = ["127.0.0.1"]
# Tests let providers fail as often as they like; those of circuits set these themselves.
CIRCUIT_FAILURES = env.int("CIRCUIT_FAILURES", 1_000_000)
CIRCUIT_FAULTS = env.int("CIRCUIT_FAULTS", 1_000_000)
CALLER_FAILURES = env.int("CALLER_FAILURES", 1_000_000)
FAILED_CALLS = env.int("FAILED_CALLS", 1_000_000)
FREE_FAILED_CALLS = env.int("FREE_FAILED_CALLS", 1_000_000)
# Tests spend without limit.
FREE_DAILY_BUDGET_USD = env.int("FREE_DAILY_BUDGET_USD", 1_000_000)
# All tests come from one network.
MAX_SIGN_UPS_PER_NETWORK = env.int("MAX_SIGN_UPS_PER_NETWORK", 1_000_000)
MAX_EMAILS_PER_NETWORK = env.int("MAX_EMAILS_PER_NETWORK", 1_000_000)
