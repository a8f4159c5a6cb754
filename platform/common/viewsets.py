"""The base of every viewset of `/api`."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework import status, viewsets
from rest_framework.response import Response

from common.revalidation import revalidated


class ViewSet(viewsets.ViewSet):
    # No docstring: it would become the description of every view that has none.

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer, and break the reference cycles of view, request and answer.

        Otherwise all of them would stay until the garbage collector runs, which then takes a
        quarter of a second.
        """
        answer = super().dispatch(request, *args, **kwargs)
        if isinstance(answer, Response):
            answer.render()
            answer.renderer_context.clear()  # type: ignore[attr-defined]
            answer = revalidated(request, answer)
        self.request.parser_context.clear()
        vars(self).clear()
        return answer

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The methods are in the header `Allow`; the rest is in `/openapi.json`."""
        return Response(status=status.HTTP_204_NO_CONTENT)
