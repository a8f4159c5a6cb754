"""Google's video wire: what goes out, with whose token, and what comes back."""

import base64
import json

import pytest
from msgspec.structs import replace

from ai.providers.config import ProviderConfig
from ai.providers.errors import ProviderUnavailable
from ai.providers.media import Picture, VideoOrder
from ai.providers.operations import Accepted, Cancelled, Failed, Pending, Succeeded
from ai.providers.veo import Veo
from common.http import UpstreamClient
from common.tests.upstream import Answer, Call, Upstream
from simulator.process import RunningSimulator

from .media import PNG, answer, base64_of
from .studio import VIDEOS, Studio, read

ORDER = VideoOrder(model="veo", prompt="A fox", seconds=8, aspect_ratio="16:9", resolution="720p")
NAME = "projects/simulated/locations/us-central1/publishers/google/models/veo/operations/1-2"


@pytest.fixture
def veo(upstream: Upstream, client: UpstreamClient) -> Veo:
    return Veo(
        ProviderConfig(
            "vertex",
            None,
            upstream.url,
            "simulated",
            storage_uri="gs://ours/clips",
            storage_url=f"{upstream.url}/store",
        ),
        client,
    )


async def test_it_is_asked_in_its_own_words(upstream: Upstream, veo: Veo) -> None:
    upstream.answer = answer({"name": NAME})
    assert await veo.submit(ORDER, "our-id", seconds=5) == Accepted(NAME)
    (call,) = upstream.calls
    models = "/v1/projects/simulated/locations/us-central1/publishers/google/models"
    assert (call.method, call.path) == ("POST", f"{models}/veo:predictLongRunning")
    assert call.headers["authorization"] == "Bearer simulated"
    assert call.json == {
        "instances": [{"prompt": "A fox"}],
        "parameters": {
            "sampleCount": 1,
            "durationSeconds": 8,
            "aspectRatio": "16:9",
            "resolution": "720p",
            "storageUri": "gs://ours/clips/our-id/",
        },
    }


async def test_all_that_an_order_can_say_goes_out(upstream: Upstream, veo: Veo) -> None:
    upstream.answer = answer({"name": NAME})
    picture = Picture(PNG, "image/png")
    order = replace(
        ORDER,
        negative_prompt="a wolf",
        seed=0,
        audio=False,
        start=picture,
        end=picture,
        extends="gs://ours/clips/1/sample_0.mp4",
    )
    await veo.submit(order, "our-id", seconds=5)
    sent = upstream.calls[0].json
    image = {"bytesBase64Encoded": base64_of(PNG), "mimeType": "image/png"}
    assert sent["instances"] == [
        {
            "prompt": "A fox",
            "image": image,
            "lastFrame": image,
            "video": {"gcsUri": order.extends, "mimeType": "video/mp4"},
        }
    ]
    rest = {"negativePrompt": "a wolf", "seed": 0, "generateAudio": False}
    assert sent["parameters"].items() >= rest.items()


async def test_it_is_asked_after_and_cancelled_by_name(upstream: Upstream, veo: Veo) -> None:
    upstream.answer = answer({"name": NAME})
    assert await veo.poll(NAME, seconds=5) == Pending()
    upstream.answer = answer({})
    await veo.cancel(NAME, seconds=5)
    asked, cancelled = upstream.calls
    model = NAME.partition("/operations/")[0]
    assert asked.path == f"/v1/{model}:fetchPredictOperation"
    assert asked.json == {"operationName": NAME}
    assert (cancelled.path, cancelled.json) == (f"/v1/{NAME}:cancel", {})


@pytest.mark.parametrize(
    ("ended", "state"),
    [
        (
            {"response": {"videos": [{"gcsUri": "gs://ours/clips/a.mp4"}]}},
            Succeeded(("gs://ours/clips/a.mp4",), reference="gs://ours/clips/a.mp4"),
        ),
        ({"error": {"code": 1, "message": "Cancelled."}}, Cancelled()),
        ({"error": {"code": 13, "message": "Internal."}}, Failed("Internal.", ("13",))),
        ({"error": {"code": 8}}, Failed("The provider failed.", ("8",))),
        (
            {"error": {"code": 3, "message": "Words that violate our usage guidelines."}},
            Failed("Words that violate our usage guidelines.", ("3",), blocked=True),
        ),
        (
            {"response": {"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": ["No."]}},
            Failed("No.", blocked=True),
        ),
        (
            {"response": {"raiMediaFilteredCount": 1}},
            Failed("The provider's moderation refused this.", blocked=True),
        ),
    ],
)
async def test_an_operation_ends(
    upstream: Upstream, veo: Veo, ended: dict[str, object], state: object
) -> None:
    upstream.answer = answer({"name": NAME, "done": True} | ended)
    assert await veo.poll(NAME, seconds=5) == state


async def test_a_result_is_read_from_the_store(upstream: Upstream, veo: Veo) -> None:
    upstream.answer = Answer([b"film"])
    assert await read(veo, "gs://ours/clips/our-id/sample_0.mp4") == b"film"
    (call,) = upstream.calls
    assert call.path == "/v1/store/ours/clips/our-id/sample_0.mp4"
    assert call.headers["authorization"] == "Bearer simulated"


async def test_a_store_that_we_may_not_read_is_our_fault(upstream: Upstream, veo: Veo) -> None:
    """Another poll would bring the same name."""
    upstream.answer = answer({"error": {"code": 403}}, 403)
    with pytest.raises(ProviderUnavailable):
        await read(veo, "gs://ours/clips/our-id/sample_0.mp4")


@pytest.mark.parametrize(
    ("base_url", "location"),
    [
        ("https://europe-west4-aiplatform.googleapis.com/v1", "europe-west4"),
        ("https://proxy.example/v1", "us-central1"),
    ],
)
def test_the_location_is_that_of_the_address(
    client: UpstreamClient, base_url: str, location: str
) -> None:
    veo = Veo(ProviderConfig("vertex", None, base_url, "simulated"), client)
    assert f"/locations/{location}/" in veo._models


# --- With a service account -----------------------------------------------------------------------


@pytest.fixture
def signed_in(simulator: RunningSimulator, client: UpstreamClient) -> Veo:
    """Veo at the simulator, with the key file of a service account in base64."""
    account = json.dumps(simulator.service_account()).encode()
    return Veo(
        ProviderConfig(
            "vertex",
            None,
            f"{simulator.url}/vertex/v1",
            base64.b64encode(account).decode(),
            storage_url=f"{simulator.url}/vertex/_files",
        ),
        client,
    )


async def test_a_service_account_orders_and_reads(studio: Studio, signed_in: Veo) -> None:
    result = await studio.made(signed_in, studio.video("vertex"))
    assert result.urls[0].startswith("gs://simulated-project-veo/")
    assert (await read(signed_in, result.urls[0]))[4:8] == b"ftyp"
    assert studio.calls()[0]["model"] == VIDEOS["vertex"]


async def test_a_token_that_is_refused_is_replaced(studio: Studio, signed_in: Veo) -> None:
    """Google may end a token early; the simulator knows none that it has not issued."""
    begun = await studio.begin(signed_in, studio.video("vertex"))
    token = signed_in._tokens._token
    assert token is not None
    signed_in._tokens._token = replace(token, value="ya29.ended")
    assert isinstance(await signed_in.poll(begun.id, seconds=5), Succeeded)
    assert signed_in._tokens._token.value != "ya29.ended"


async def test_an_order_with_a_token_that_is_refused_is_placed_once(
    upstream: Upstream, client: UpstreamClient, simulator: RunningSimulator
) -> None:
    account = simulator.service_account() | {"token_uri": f"{upstream.url}/token"}
    veo = Veo(ProviderConfig("vertex", None, upstream.url, json.dumps(account)), client)
    issued = iter(["first", "second"])

    def google(call: Call) -> Answer:
        if call.path == "/v1/token":
            return answer({"access_token": next(issued), "expires_in": 3600})
        if call.headers["authorization"] == "Bearer first":
            return answer({"error": {"code": 401}}, 401)
        return answer({"name": NAME})

    upstream.answer = google
    assert await veo.submit(ORDER, "our-id", seconds=5) == Accepted(NAME)
    orders = [call for call in upstream.calls if call.path != "/v1/token"]
    assert [call.headers["authorization"] for call in orders] == ["Bearer first", "Bearer second"]
