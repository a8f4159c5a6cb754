"""The routes: the path of each wire."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache

from simulator import (
    anthropic_chat,
    control,
    dead_keys,
    deepgram,
    embeddings,
    flux,
    gemini_chat,
    identity,
    images,
    openai_chat,
    openai_images,
    openai_speech,
    operations,
    outages,
    providers,
    xai_images,
)
from simulator.exchange import Arrival
from simulator.journal import Kind
from simulator.media import luma, meshy, results, runway, tripo, vertex, vertex_provider
from simulator.provider import Problem, Refused

# Returns the outcome; None if the call continues after its answer.
Respond = Callable[[Arrival], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Route:
    """A path with `{placeholders}`; `{vendor}` is any provider that uses OpenAI's wire, and
    `{object}` takes the rest of the path.

    `kind` is the kind in the journal; a route without a kind is not recorded.
    """

    method: str
    path: str
    respond: Respond
    kind: Kind | None = None
    keyless: bool = False

    def match(self, path: str) -> dict[str, str] | None:
        """The values of the placeholders; None if the path does not match."""
        found = _pattern(self.path).fullmatch(path)
        if found is None or not providers.speaks_openai(found.groupdict().get("vendor", "")):
            return None
        return found.groupdict()


_VEO = "/vertex/v1/projects/{project}/locations/{location}/publishers/google/models/{model}"
_GENERATIONS = "/luma/dream-machine/v1/generations"
_TEXT_TO_3D = "/meshy/openapi/v2/text-to-3d"
_IMAGE_TO_3D = "/meshy/openapi/v1/image-to-3d"
_GEMINI = "/google/v1beta/models/{model}"
ROUTES = (
    Route("GET", "/_health", control.health, keyless=True),
    Route("GET", "/_journal", control.journal, keyless=True),
    Route("DELETE", "/_journal", control.clear_journal, keyless=True),
    Route("PUT", "/_keys", dead_keys.let_die, keyless=True),
    Route("DELETE", "/_keys", dead_keys.revive, keyless=True),
    Route("PUT", "/_outages", outages.begin, keyless=True),
    Route("DELETE", "/_outages", outages.end, keyless=True),
    Route("GET", "/_pictures/{name}.png", images.show, keyless=True),
    Route("GET", "/{vendor}/v1/models", control.models),
    Route("POST", "/{vendor}/v1/chat/completions", openai_chat.respond, "chat"),
    Route("POST", "/{vendor}/v1/embeddings", embeddings.respond, "embeddings"),
    Route("POST", "/{vendor}/v1/audio/transcriptions", openai_speech.respond, "speech"),
    Route("POST", "/deepgram/v1/listen", deepgram.respond, "speech"),
    Route("POST", "/anthropic/v1/messages", anthropic_chat.respond, "chat"),
    Route("POST", f"{_GEMINI}:generateContent", gemini_chat.whole, "chat"),
    Route("POST", f"{_GEMINI}:streamGenerateContent", gemini_chat.stream, "chat"),
    Route("POST", "/openai/v1/images/generations", openai_images.respond, "images"),
    Route("POST", "/openai/v1/images/edits", openai_images.edit, "images"),
    Route("POST", "/xai/v1/images/generations", xai_images.respond, "images"),
    Route("POST", "/xai/v1/images/edits", xai_images.edit, "images"),
    Route("GET", "/bfl/v1/get_result", flux.poll, keyless=True),
    Route("POST", "/bfl/v1/{model}", flux.submit, "images"),
    Route("POST", "/renderer/v1/operations", operations.submit, "operations"),
    Route("GET", "/renderer/v1/operations", operations.find),
    Route("GET", "/renderer/v1/operations/{name}", operations.poll),
    Route("POST", "/renderer/v1/operations/{name}/cancel", operations.cancel),
    Route("GET", "/renderer/v1/files/{name}", operations.show_file),
    Route("GET", "/vertex/service_account", vertex_provider.service_account, keyless=True),
    Route("POST", "/vertex/token", vertex_provider.token, keyless=True),
    Route("POST", f"{_VEO}:predictLongRunning", vertex.submit, "operations"),
    Route("POST", f"{_VEO}:fetchPredictOperation", vertex.poll),
    Route("POST", f"{_VEO}/operations/{{name}}:cancel", vertex.cancel),
    Route("GET", "/vertex/_files/{bucket}/{object}", vertex.show_object),
    Route("POST", "/runway/v1/text_to_video", runway.text_to_video, "operations"),
    Route("POST", "/runway/v1/image_to_video", runway.image_to_video, "operations"),
    Route("GET", "/runway/v1/tasks/{name}", runway.poll),
    Route("DELETE", "/runway/v1/tasks/{name}", runway.cancel),
    Route("GET", "/runway/_files/{name}", results.serve_signed, keyless=True),
    Route("POST", _GENERATIONS, luma.submit, "operations"),
    Route("POST", f"{_GENERATIONS}/video", luma.submit, "operations"),
    Route("GET", f"{_GENERATIONS}/{{name}}", luma.poll),
    Route("DELETE", f"{_GENERATIONS}/{{name}}", luma.remove),
    Route("GET", "/luma/_files/{name}", results.serve_signed, keyless=True),
    Route("POST", _TEXT_TO_3D, meshy.submit_text, "operations"),
    Route("GET", f"{_TEXT_TO_3D}/{{name}}", meshy.poll_text),
    Route("DELETE", f"{_TEXT_TO_3D}/{{name}}", meshy.remove_text),
    Route("POST", _IMAGE_TO_3D, meshy.submit_image, "operations"),
    Route("GET", f"{_IMAGE_TO_3D}/{{name}}", meshy.poll_image),
    Route("DELETE", f"{_IMAGE_TO_3D}/{{name}}", meshy.remove_image),
    Route("GET", "/meshy/_files/{name}", results.serve_signed, keyless=True),
    Route("POST", "/tripo/v2/openapi/upload", tripo.upload),
    Route("POST", "/tripo/v2/openapi/upload/sts", tripo.upload),
    Route("POST", "/tripo/v2/openapi/task", tripo.submit, "operations"),
    Route("GET", "/tripo/v2/openapi/task/{name}", tripo.poll),
    Route("GET", "/tripo/_files/{name}", results.serve_signed, keyless=True),
    Route("GET", "/identity/jwks", identity.jwks, keyless=True),
    Route("POST", "/identity/token", identity.token, keyless=True),
    Route("POST", "/identity/rotate", identity.rotate, keyless=True),
    Route("GET", "/identity/authorize", identity.show_form, keyless=True),
    Route("POST", "/identity/authorize", identity.sign_in, keyless=True),
)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    path = path.replace("{object}", "(?P<object>.+)")
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/:]+)", path))


def find(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The route of a request, and the values of its placeholders. Raises `Refused`."""
    matches = [(route, names) for route in ROUTES if (names := route.match(path)) is not None]
    if not matches:
        raise Refused(Problem(404, f"Unknown path {path}", "unknown_url"))
    for route, names in matches:
        if route.method == method:
            return route, names
    raise Refused(Problem(405))
