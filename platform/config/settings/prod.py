"""Production. Secrets come from the environment; `config/checks.py` refuses an unsafe start."""

from config.environment import require
from config.settings.base import *

require(
    env,
    *("SECRET_KEY", "API_KEY_PEPPER", "ALLOWED_HOSTS", "PUBLIC_BASE_URL", "UPLOADS_DIR"),
    *("DEFAULT_FROM_EMAIL", *(() if OUTPUTS_BUCKET else ("OUTPUTS_DIR",))),
)

PRODUCTION = True
OPERATORS_NEED_SECOND_FACTOR = True
SECRET_KEY = env.str("SECRET_KEY")
API_KEY_PEPPER = env.str("API_KEY_PEPPER")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS")
PUBLIC_BASE_URL = env.str("PUBLIC_BASE_URL")
if not OUTPUTS_BUCKET:
    OUTPUTS_DIR = env.str("OUTPUTS_DIR")
UPLOADS_DIR = env.str("UPLOADS_DIR")
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL")
LOG_JSON = env.bool("LOG_JSON", True)
SELF_SERVICE_TOPUP = env.bool("SELF_SERVICE_TOPUP", False)
# Only behind a proxy that sets this header itself: any client could send it.
if env.bool("BEHIND_TLS_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_HSTS_SECONDS = 31_536_000
