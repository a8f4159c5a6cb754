"""The page at `/` where no web app is served: where somebody goes on who has opened the service's
address in a browser. It shows nothing of anybody, and fetches nothing."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from common.api import unknown_path

# Short: another release, or the web app, may stand here soon.
MAX_AGE_SECONDS = 300
_JSON, _PAGE = "application/json", "text/html"
_FOLDER = Path(__file__).parent / "templates" / "config"


def front_page(request: HttpRequest) -> HttpResponse:
    """The page for browsers. Programs, which do not ask for HTML, get the 404 of unknown paths."""
    if asks_for_page(request):
        response = render(request, "config/front_page.html", _context())
        response["Cache-Control"] = f"public, max-age={MAX_AGE_SECONDS}"
        response["Content-Security-Policy"] = content_security_policy()
        # For browsers that do not know `frame-ancestors`.
        response["X-Frame-Options"] = "DENY"
    else:
        response = unknown_path(request)
    patch_vary_headers(response, ["Accept"])
    return response


def asks_for_page(request: HttpRequest) -> bool:
    """Is it a browser that opens a page? Programs do not ask for HTML, or prefer JSON."""
    wants_page = request.get_preferred_type([_JSON, _PAGE]) == _PAGE
    return request.method in ("GET", "HEAD") and wants_page


@cache
def content_security_policy() -> str:
    """Nothing but the style that stands in the page, by its hash."""
    digest = b64encode(sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@cache
def _style() -> str:
    return (_FOLDER / "front_page.css").read_text()


def _context() -> dict[str, object]:
    """Outside of production also what a developer looks for."""
    web_app = settings.WEB_APP_URL
    api_host = settings.API_HOST
    return {
        "product": settings.PRODUCT_NAME,
        "style": _style(),
        "api_url": f"https://{api_host}/v1" if api_host else f"{settings.PUBLIC_BASE_URL}/v1",
        "web_app_url": "" if web_app == settings.PUBLIC_BASE_URL else web_app,
        "is_production": settings.PRODUCTION,
        "credentials": settings.DEMO_FILE if settings.DEMO_SEEDS else None,
    }
