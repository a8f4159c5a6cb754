"""The build of the web app, as a process reads it from its folder when it starts.

It is kept in memory: a few megabytes. So a process goes on with the build that it began with, while
another one is written into the folder, and a path can name nothing that was not there then.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from servestatic.media_types import MediaTypes

from config.web_app.assets import CODINGS, Asset
from config.web_app.policy import Inline, content_security_policy, inline_of
from config.web_app.routes import Routes

INDEX, ROUTES = "index.html", "routes.json"
IMMUTABLE = "/_app/immutable/"
_MEDIA_TYPES = MediaTypes(extra_types={".webmanifest": "application/manifest+json"})
# The first segments of the service's own paths: nothing of the app is there.
RESERVED = frozenset(
    {"api", "v1", "files", "admin", "static", "ws", "docs", "redoc"}
    | {"openapi.json", "asyncapi.json", "livez", "readyz", "healthz", "metrics"}
)


@dataclass(frozen=True, slots=True)
class Build:
    """`index` is the page of every route, `inline` is what stands in it, `files` are the
    others by path."""

    index: Asset
    inline: Inline
    routes: Routes
    files: Mapping[str, Asset]


def current_build() -> Build | None:
    """The build in WEB_APP_DIR; None where there is none, or where WEB_APP is off.

    Raises ImproperlyConfigured for half a build.
    """
    return _read(Path(settings.WEB_APP_DIR)) if settings.WEB_APP else None


def is_reserved(path: str) -> bool:
    """Is it a path of the service itself, which is no page, whoever asks for it?"""
    return path.removeprefix("/").partition("/")[0] in RESERVED


@cache
def _read(folder: Path) -> Build | None:
    if not (folder / INDEX).is_file():
        return None
    try:
        routes = Routes(msgspec.json.decode((folder / ROUTES).read_bytes(), type=list[str]))
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(
            f"WEB_APP_DIR: {folder / ROUTES} must be the list of the app's routes. Build `web/` "
            f"again, or set WEB_APP=off. ({error})"
        ) from None
    return Build(
        index=_asset(folder / INDEX, "/"),
        inline=inline_of((folder / INDEX).read_text()),
        routes=routes,
        files={path: _asset(file, path) for path, file in _files(folder)},
    )


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files that are served, by path: none that is hidden, that a link takes from elsewhere, or
    that stands in the place of the service's own."""
    root = folder.resolve()
    for file in sorted(root.rglob("*")):
        path = f"/{file.relative_to(root).as_posix()}"
        is_form = file.suffix in CODINGS and file.with_suffix("").is_file()
        is_hidden = "/." in path or is_reserved(path) or not file.resolve().is_relative_to(root)
        if file.is_file() and not (is_form or is_hidden or path in (f"/{INDEX}", f"/{ROUTES}")):
            yield path, file


def _asset(file: Path, path: str) -> Asset:
    forms = {"": file.read_bytes()}
    for ending, coding in CODINGS.items():
        form = file.with_name(f"{file.name}{ending}")
        if form.is_file():
            forms[coding] = form.read_bytes()
    is_immutable = path.startswith(IMMUTABLE)
    media_type = _MEDIA_TYPES.get_type(file.name)
    is_text = media_type.startswith("text/")
    return Asset(
        forms,
        {
            "Content-Type": f"{media_type}; charset=utf-8" if is_text else media_type,
            # What has no hash in its name is asked for again, which mostly is a 304.
            "Cache-Control": "public, max-age=31536000, immutable" if is_immutable else "no-cache",
            # Workers of the app have the policy of their file.
            "Content-Security-Policy": content_security_policy(Inline()),
        },
    )
