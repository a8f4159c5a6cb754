"""`POST /v1/images/generations`: pictures, created while the client waits, and served by us."""

from msgspec import json

from ai.inference.images import ImageRunner
from ai.inference.services import open_images, replay_images
from ai.inference.types import ImageAnswer, ImageCall
from common.ids import unix_seconds
from common.money import usd
from media.files.selectors.links import signed_url
from publicapi.v1 import errors, idempotency, images_schema, retries
from publicapi.v1.authentication import authenticate
from publicapi.v1.exchange import Exchange
from publicapi.v1.images_schema import ECHOED, ImageList, ImageTokens, ImageUsage, Picture
from publicapi.v1.model_access import find_callable

# 4,000 characters, each escaped as two \uXXXX, with room for fields without a meaning.
MAX_BODY = 256 * 1024


async def create_images(exchange: Exchange) -> None:
    """Authenticate, check, call, answer. Raises DomainErrors."""
    holder = await authenticate(exchange)
    body = await exchange.body(MAX_BODY, errors.InputTooLong("The body is larger than 256 KB."))
    request = images_schema.parse(body)
    exchange.ignored = request.ignored
    call = ImageCall(
        account_id=holder.account_id,
        api_key_id=holder.key_id,
        source="api",
        model=await find_callable(request.model, "image", holder),
        prompt=request.prompt,
        n=request.n,
        size=request.size,
        quality=request.quality,
        request_id=exchange.request_id,
        request_key=idempotency.read_request_key(exchange, body),
    )
    runner = await retries.opened(exchange, call, body, open_images, replay_images)
    with idempotency.marked(exchange, runner):
        answer = await runner.ended()
    await exchange.respond(200, json.encode(_images(runner, answer)))


def _images(runner: ImageRunner, answer: ImageAnswer) -> ImageList:
    """A replayed answer gets new links, valid as long as the first ones."""
    return ImageList(
        created=unix_seconds(runner.charge_id),
        data=[Picture(signed_url(name)) for name in answer.files],
        size=runner.call.size,
        quality=ECHOED[runner.call.quality],
        usage=ImageUsage(
            input_tokens=0,
            output_tokens=0,
            total_tokens=0,
            input_tokens_details=ImageTokens(0, 0),
            billed_usd=None if runner.billed is None else usd(runner.billed),
        ),
    )
