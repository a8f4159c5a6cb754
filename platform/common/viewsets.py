"""The base of every viewset of `/api`. Unchanged answers are sent as a 304."""

from hashlib import md5
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.utils.http import parse_etags
from rest_framework import status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from common.list_queries import check_query

# The headers of an answer that its 304 repeats (RFC 9110, 15.4.5).
_KEPT = ("Cache-Control", "ETag", "Vary")


class ViewSet(viewsets.ViewSet):
    # No docstring: it would become the description of every view that has none.

    # The `Cache-Control` of answers that are the same for everybody; all others are not stored.
    cache_control: ClassVar[str] = ""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer, and break the reference cycles of view, request and answer.

        Otherwise all of them would stay until the garbage collector runs, which then takes a
        quarter of a second.
        """
        answer = super().dispatch(request, *args, **kwargs)
        if isinstance(answer, Response):
            answer.render()
            answer.renderer_context.clear()  # type: ignore[attr-defined]
            answer = _revalidated(request, answer, self.cache_control)
        self.request.parser_context.clear()
        vars(self).clear()
        return answer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """See who asks, and what."""
        super().initial(request, *args, **kwargs)
        # There is no action where the method is not allowed.
        if request.method in ("GET", "HEAD") and self.action:
            check_query(request, self)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The methods are in the header `Allow`; the rest is in `/openapi.json`."""
        return Response(status=status.HTTP_204_NO_CONTENT)


def _revalidated(request: HttpRequest, answer: HttpResponse, cache_control: str) -> HttpResponse:
    """The answer of a view with an `ETag`, or a 304 for a client that has it (`If-None-Match`). An
    answer that is no 200 to GET or HEAD, or whose view has set `Cache-Control`, is not changed.

    The tag is a hash of the body: no column covers all of it, for example the text of a running
    reply and the cost of a stopped one. It is weak, because the body may be sent compressed. Unless
    the view has a `cache_control`, the client keeps tag and answer itself: no shared cache may
    store what belongs to a user.
    """
    is_read = request.method in ("GET", "HEAD") and answer.status_code == 200
    if not is_read or "Cache-Control" in answer:
        return answer
    tag = f'"{md5(answer.content, usedforsecurity=False).hexdigest()}"'
    answer["ETag"] = f"W/{tag}"
    if cache_control:
        answer["Cache-Control"] = cache_control
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if not any(each in ("*", tag, f"W/{tag}") for each in known):
        return answer
    return HttpResponseNotModified(headers={name: answer[name] for name in _KEPT if name in answer})
