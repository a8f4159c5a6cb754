"""Google's Veo on Vertex AI, with Google's own client libraries."""

import io
import time
from collections.abc import Iterator
from typing import Any

import httpx
import jwt
import pytest
from google import genai
from google.auth.transport.requests import Request
from google.genai import errors, types
from google.oauth2 import service_account
from PIL import Image

from simulator.tests import film
from simulator.tests.conftest import Caller

MODEL = "veo-3.1-generate-001"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
PARENT = "/vertex/v1/projects/p/locations/us-central1/publishers/google/models/" + MODEL
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def credentials(caller: Caller, query: str = "") -> service_account.Credentials:
    account = caller.simulator.service_account()
    account["token_uri"] += query
    found: service_account.Credentials = service_account.Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
        account, scopes=[SCOPE]
    )
    return found


@pytest.fixture
def google(caller: Caller) -> Iterator[genai.Client]:
    options = types.HttpOptions(base_url=f"{caller.simulator.url}/vertex", api_version="v1")
    with genai.Client(
        vertexai=True,
        project="p",
        location="us-central1",
        credentials=credentials(caller),
        http_options=options,
    ) as client:
        yield client


def begin(
    google: genai.Client,
    prompt: str,
    *,
    image: types.Image | None = None,
    video: types.Video | None = None,
    **config: Any,
) -> types.GenerateVideosOperation:
    source = types.GenerateVideosSource(prompt=prompt, image=image, video=video)
    operation = google.models.generate_videos(
        model=MODEL, source=source, config=types.GenerateVideosConfig(**config)
    )
    assert (operation.name or "").startswith("projects/p/locations/us-central1/publishers/google/")
    return operation


def video_of(operation: types.GenerateVideosOperation) -> types.Video:
    assert operation.done
    assert operation.error is None
    assert operation.response is not None
    (made,) = operation.response.generated_videos or []
    assert made.video is not None
    return made.video


def test_a_video_is_in_the_answer_to_the_poll(caller: Caller, google: genai.Client) -> None:
    operation = google.operations.get(begin(google, caller.prompt(), duration_seconds=4))

    video = video_of(operation)

    assert video.mime_type == "video/mp4"
    seen = film.watch(video.video_bytes or b"")
    assert seen.seconds == pytest.approx(4, abs=0.1)
    assert seen.has_sound
    assert seen.images[0].size == (320, 180)
    entry = caller.entry()
    assert (entry["kind"], entry["outcome"], entry["model"]) == ("operations", "completed", MODEL)
    assert (entry["seconds"], entry["size"], entry["files_emitted"]) == (4, "720p", 1)


def test_a_video_without_sound_is_ordered(caller: Caller, google: genai.Client) -> None:
    operation = begin(google, caller.prompt(), generate_audio=False, duration_seconds=4)

    assert not film.watch(video_of(google.operations.get(operation)).video_bytes or b"").has_sound


def test_an_extension_contains_the_clip_and_goes_on(caller: Caller, google: genai.Client) -> None:
    first = video_of(google.operations.get(begin(google, "A fox", duration_seconds=4)))

    operation = begin(google, caller.prompt(), video=first)

    seen = film.watch(video_of(google.operations.get(operation)).video_bytes or b"")
    assert seen.seconds == pytest.approx(11, abs=0.1)
    assert seen.clock == sorted(seen.clock)
    assert seen.clock[0] == 0
    assert seen.clock[-1] == pytest.approx(11, abs=0.11)
    assert (caller.entry()["seconds"], caller.entry()["references"]) == (7, 1)


def test_a_video_begins_and_ends_with_pictures(caller: Caller, google: genai.Client) -> None:
    def picture(colour: tuple[int, int, int]) -> types.Image:
        file = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(file, "JPEG")
        return types.Image(image_bytes=file.getvalue(), mime_type="image/jpeg")

    operation = begin(
        google, caller.prompt(), image=picture((0, 255, 0)), last_frame=picture((255, 0, 0))
    )

    images = film.watch(video_of(google.operations.get(operation)).video_bytes or b"").images
    corner = (images[0].width - 12, 12)
    first, last = film.colour(images[0], corner), film.colour(images[-1], corner)
    assert first[1] > 200 > first[0]
    assert last[0] > 200 > last[1]
    assert caller.entry()["references"] == 2


def test_a_video_is_left_in_cloud_storage(caller: Caller, google: genai.Client) -> None:
    operation = begin(google, caller.prompt(), output_gcs_uri="gs://bucket/a/b")
    uri = video_of(google.operations.get(operation)).uri or ""
    assert uri.startswith("gs://bucket/a/b/")

    address = f"{caller.simulator.url}/vertex/_files/{uri.removeprefix('gs://')}"

    assert httpx.get(address).status_code == 401
    seen = film.watch(caller.http.get(address).content)
    assert seen.seconds == pytest.approx(8, abs=0.1)
    continued = begin(google, "More", video=types.Video(uri=uri, mime_type="video/mp4"))
    more = film.watch(video_of(google.operations.get(continued)).video_bytes or b"")
    assert more.seconds == pytest.approx(15, abs=0.1)


def test_an_operation_is_done_after_some_polls(caller: Caller, google: genai.Client) -> None:
    operation = begin(google, caller.prompt(polls=3))

    assert [google.operations.get(operation).done for _ in range(3)] == [None, None, True]


@pytest.mark.parametrize(
    ("option", "code", "outcome"),
    [
        ({"refusal": True}, 3, "refusal"),
        ({"finish": "failed"}, 13, "failed"),
        ({"finish": "failed", "code": "8"}, 8, "failed"),
    ],
)
def test_an_operation_can_fail(
    caller: Caller, google: genai.Client, option: dict[str, Any], code: int, outcome: str
) -> None:
    operation = google.operations.get(begin(google, caller.prompt(**option)))

    assert operation.done
    assert operation.error is not None
    assert operation.error["code"] == code
    assert caller.entry()["outcome"] == outcome


def test_a_video_can_be_filtered(caller: Caller, google: genai.Client) -> None:
    operation = google.operations.get(begin(google, caller.prompt(blocked=True)))

    assert operation.response is not None
    assert operation.response.generated_videos is None
    assert operation.response.rai_media_filtered_count == 1
    assert caller.entry()["outcome"] == "blocked"


def test_an_operation_is_cancelled(caller: Caller, google: genai.Client) -> None:
    operation = begin(google, caller.prompt(polls=100))

    answer = caller.http.post(f"{caller.simulator.url}/vertex/v1/{operation.name}:cancel")

    assert (answer.status_code, answer.json()) == (200, {})
    ended = google.operations.get(operation)
    assert ended.error is not None
    assert ended.error["code"] == 1
    assert caller.entry()["outcome"] == "cancelled"


@pytest.mark.parametrize(
    ("option", "start"),
    [("empty", b""), ("broken", b"\0\0\0 ftyp"), ("other_type", b"<!doctype html>")],
)
def test_the_bytes_in_the_answer_can_be_wrong(
    caller: Caller, google: genai.Client, option: str, start: bytes
) -> None:
    operation = google.operations.get(begin(google, caller.prompt(result=option)))

    data = video_of(operation).video_bytes or b""

    assert data.startswith(start)
    assert b"mdat" not in data[-100:]


def test_the_bytes_in_the_answer_can_be_very_many(caller: Caller, google: genai.Client) -> None:
    operation = begin(google, caller.prompt(result="huge", result_bytes=3_000_000))

    data = video_of(google.operations.get(operation)).video_bytes or b""

    assert len(data) == 3_000_000
    assert film.watch(data).seconds == pytest.approx(8, abs=0.1)


@pytest.mark.parametrize(
    "change",
    [
        {"instances": []},
        {"instances": [{"prompt": ""}]},
        {"instances": [{"prompt": "A fox", "style": "x"}]},
        {"instances": [{"prompt": "A fox", "image": {"bytesBase64Encoded": "AAAA"}}]},
        {
            "instances": [
                {"prompt": "A", "video": {"bytesBase64Encoded": "AAAA", "mimeType": "video/mp4"}}
            ]
        },
        {"parameters": {"durationSeconds": 5}},
        {"parameters": {"durationSeconds": 7}},
        {"parameters": {"aspectRatio": "1:1"}},
        {"parameters": {"resolution": "540p"}},
        {"parameters": {"storageUri": "https://bucket"}},
        {"parameters": {"loop": True}},
    ],
)
def test_a_wrong_request_is_refused(caller: Caller, change: dict[str, Any]) -> None:
    body = {"instances": [{"prompt": "A fox"}]} | change

    answer = caller.http.post(f"{caller.simulator.url}{PARENT}:predictLongRunning", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_an_unknown_model_is_a_404(caller: Caller) -> None:
    url = f"{caller.simulator.url}{PARENT}".replace("veo-3.1", "veo-0")

    answer = caller.http.post(f"{url}:predictLongRunning", json={"instances": [{"prompt": "A"}]})

    assert answer.status_code == 404


def test_an_error_is_googles(caller: Caller, google: genai.Client) -> None:
    with pytest.raises(errors.ClientError) as refused:
        begin(google, caller.prompt(status=429, retry_after=3))

    assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")


def ask_for_token(caller: Caller, **claims: object) -> httpx.Response:
    """The answer to an assertion that differs from a good one in these claims."""
    account = caller.simulator.service_account()
    now = int(time.time())
    usual: dict[str, object] = {"scope": SCOPE, "aud": account["token_uri"]}
    usual["iss"] = account["client_email"]
    usual |= {"iat": now, "exp": now + 3600}
    assertion = jwt.encode(usual | claims, account["private_key"], "RS256")
    return httpx.post(account["token_uri"], data={"grant_type": GRANT, "assertion": assertion})


def test_an_assertion_gets_a_token(caller: Caller) -> None:
    answer = ask_for_token(caller).json()

    assert answer["access_token"].startswith("ya29.")
    assert (answer["expires_in"], answer["token_type"]) == (3600, "Bearer")


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "someone@else.iam.gserviceaccount.com"},
        {"aud": "https://example.com/token"},
        {"scope": "openid"},
        {"exp": 1},
        {"exp": int(time.time()) + 100_000},
    ],
)
def test_a_wrong_assertion_gets_none(caller: Caller, claims: dict[str, object]) -> None:
    answer = ask_for_token(caller, **claims)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


def test_the_token_endpoint_can_be_steered_to_fail(caller: Caller) -> None:
    url = caller.simulator.service_account()["token_uri"]

    assert httpx.post(f"{url}?status=503").status_code == 503


def test_a_key_is_required(caller: Caller) -> None:
    url = f"{caller.simulator.url}{PARENT}:predictLongRunning"

    for value in ("", "Bearer wrong", "Bearer ya29.never-issued"):
        answer = httpx.post(url, headers={"authorization": value}, json={})
        assert answer.status_code == 401


def test_a_token_that_has_ended_is_refused(caller: Caller) -> None:
    signed_in = credentials(caller, "?expires_in=0")
    signed_in.refresh(Request())  # type: ignore[no-untyped-call]
    url = f"{caller.simulator.url}{PARENT}:predictLongRunning"

    answer = httpx.post(url, headers={"authorization": f"Bearer {signed_in.token}"}, json={})

    assert answer.status_code == 401
    assert answer.json()["error"]["status"] == "UNAUTHENTICATED"
