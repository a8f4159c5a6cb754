"""The environment variables, as the settings read them."""

from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_POSTGRESQL = ("postgres://", "postgresql://", "psql://", "pgsql://")


class Environment(environ.Env):  # type: ignore[misc]
    """Names the variable whose value has not the form that is asked for: ImproperlyConfigured, with
    a sentence that does not repeat the value, which may be a secret."""

    def get_value(self, var: Any, cast: Any = None, *args: Any, **options: Any) -> Any:
        try:
            return super().get_value(var, cast, *args, **options)
        except ValueError:
            wanted = {int: "a whole number", float: "a number"}.get(cast, "of another form")
            raise ImproperlyConfigured(f"{var} must be {wanted}.") from None

    def db(self, var: str, default: str) -> Any:
        """The settings of a PostgreSQL database."""
        url = self.get_value(var, default=default) or default
        try:
            if url.startswith(_POSTGRESQL):
                return self.db_url_config(url)
        except ValueError:
            pass
        raise ImproperlyConfigured(
            f"{var} must be of the form postgres://user:password@host:5432/name."
        )

    def email_url(self, var: str, default: str) -> Any:
        """The settings of a mail server."""
        try:
            return super().email_url(var, default)
        except (ValueError, ImproperlyConfigured):
            raise ImproperlyConfigured(
                f"{var} must be of the form smtp+tls://user:password@host:587."
            ) from None


def require(env: Environment, *names: str) -> None:
    """Raises ImproperlyConfigured, with one sentence for all that are missing."""
    if missing := [name for name in names if name not in env.ENVIRON]:
        raise ImproperlyConfigured(
            f"Production needs {', '.join(missing)}: set each in the environment or in `.env` "
            "(docs/configuration.md says what they mean), or choose "
            "DJANGO_SETTINGS_MODULE=config.settings.dev for development."
        )
