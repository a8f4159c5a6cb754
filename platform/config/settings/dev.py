"""The local default: everything on, nothing to configure. Never for production."""

from config.settings.base import *

# DEBUG stays off: errors are answered as in production, with the traceback in the log alone.
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = True
# daphne's `runserver`, which serves ASGI. Servers that are no development need none of its modules.
INSTALLED_APPS = ["daphne", *INSTALLED_APPS, "demo"]
SECRET_KEY = env.str("SECRET_KEY", "development-only-secret-key-of-more-than-32-bytes")
API_KEY_PEPPER = env.str("API_KEY_PEPPER", "development-only-pepper")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
SELF_SERVICE_TOPUP = True
# Where no server takes mails, they are written to the log, each after a line about it.
if mail_server["EMAIL_BACKEND"] == "django.core.mail.backends.console.EmailBackend":
    EMAIL_BACKEND = "devserver.mails.EmailBackend"
