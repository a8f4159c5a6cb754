"""The pages of the web app: one file, whose scripts show what the path names."""

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt

from common.api import unknown_path
from config.front_page import asks_for_page, front_page
from config.web_app.build import Build, current_build, is_reserved
from config.web_app.policy import content_security_policy


@csrf_exempt
def page(request: HttpRequest) -> HttpResponse:
    """What is at a path that no other route has.

    A browser gets the app, with 404 where the app has no such page either and says so itself; where
    no app is served, the front page. Programs get the 404 of unknown paths, and so does everybody
    under the paths of the service itself.
    """
    build = current_build()
    if build is None:
        return front_page(request) if request.path == "/" else unknown_path(request)
    if is_reserved(request.path):
        return unknown_path(request)
    response = _app(build, request) if asks_for_page(request) else unknown_path(request)
    patch_vary_headers(response, ["Accept"])
    return response


def is_page(request: HttpRequest) -> bool:
    """Does a browser ask for a page of the app?"""
    build = current_build()
    return build is not None and build.routes.have(request.path) and asks_for_page(request)


def _app(build: Build, request: HttpRequest) -> HttpResponse:
    is_known = build.routes.have(request.path)
    known_tags = request.headers.get("If-None-Match", "") if is_known else ""
    answer = build.index.answer(request.headers.get("Accept-Encoding", ""), known_tags)
    response = HttpResponse(answer.body, status=answer.status, headers=answer.headers)
    if not is_known:
        response.status_code = 404
        del response["ETag"], response["Cache-Control"]
    socket = f"{'wss' if request.is_secure() else 'ws'}://{request.get_host()}"
    response["Content-Security-Policy"] = content_security_policy(build.inline, socket)
    # For browsers that do not know `frame-ancestors`.
    response["X-Frame-Options"] = "DENY"
    response["Cross-Origin-Opener-Policy"] = "same-origin"
    return response
