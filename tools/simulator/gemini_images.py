"""Gemini's pictures: `:generateContent` with the modality IMAGE, one picture for each call."""

from dataclasses import replace

from simulator import images, references, vendor_usage
from simulator.chat_types import Usage
from simulator.exchange import Arrival, Exchange
from simulator.gemini_parts import Blob
from simulator.gemini_request import GenerateBody, ImageConfig
from simulator.google_provider import standard_base64
from simulator.pictures import Picture
from simulator.provider import Json, Problem, Refused

# Width and height at 1K; 2K and 4K are twice and four times as long.
_SIZES = {
    "1:1": (1024, 1024),
    "1:4": (512, 2064),
    "1:8": (352, 2928),
    "2:3": (848, 1264),
    "3:2": (1264, 848),
    "3:4": (896, 1200),
    "4:1": (2064, 512),
    "4:3": (1200, 896),
    "4:5": (928, 1152),
    "5:4": (1152, 928),
    "8:1": (2928, 352),
    "9:16": (768, 1376),
    "16:9": (1376, 768),
    "21:9": (1584, 672),
}
_SCALES = {"1K": 1, "2K": 2, "4K": 4}
_REFERENCE_TOKENS = 560
_TOKENS = {"1K": 1120, "2K": 1680, "4K": 2520}


async def respond(arrival: Arrival, body: GenerateBody) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    arrival.call.kind = "images"
    config = body.generation_config.image_config or ImageConfig()
    chat_request = body.chat_request(arrival.path["model"], stream=False)
    exchange, pictures = images.order(
        arrival,
        model=chat_request.model,
        prompt=chat_request.question,
        n=1,
        size=_pixels(config),
        quality=config.image_size,
        references=tuple(
            references.from_base64(standard_base64(blob.data)) for blob in body.images
        ),
    )
    options = exchange.steering
    if options.blocked or options.refusal:
        pictures = []
    drafts = 0 if (body.thinking.thinking_level or "").upper() == "MINIMAL" else 1
    if options.drafts is not None:
        drafts = options.drafts
    return await images.send(
        exchange, lambda: _response(exchange, pictures, config, drafts), len(pictures)
    )


def _reference(blob: Blob) -> bytes:
    return references.from_base64(standard_base64(blob.data))


def _pixels(config: ImageConfig) -> tuple[int, int]:
    if config.aspect_ratio not in _SIZES:
        raise Refused(Problem(400, f"Aspect ratio {config.aspect_ratio} is not supported."))
    if config.image_size not in _SCALES:
        raise Refused(Problem(400, f"Image size {config.image_size} is not supported."))
    width, height = _SIZES[config.aspect_ratio]
    scale = _SCALES[config.image_size]
    return width * scale, height * scale


def _response(
    exchange: Exchange, pictures: list[Picture], config: ImageConfig, drafts: int
) -> Json:
    """The drafts as thoughts, then the picture; without a picture there is only the finish
    reason."""
    named = {"modelVersion": exchange.call.model, "responseId": exchange.call.id}
    prompt = exchange.call.prompt_tokens + _REFERENCE_TOKENS * exchange.call.references
    if exchange.steering.blocked:
        feedback = {"promptFeedback": {"blockReason": "IMAGE_SAFETY"}}
        return feedback | {"usageMetadata": vendor_usage.gemini(Usage(prompt, 0, 0))} | named
    parts = [
        {"inlineData": _inline(exchange, _draft(picture, number)), "thought": True}
        for picture in pictures
        for number in range(drafts)
    ]
    parts += [{"inlineData": _inline(exchange, picture)} for picture in pictures]
    content: Json = {"role": "model"} | ({"parts": parts} if parts else {})
    candidate = {"content": content, "index": 0, "finishReason": _reason(exchange, pictures)}
    tokens = _TOKENS[config.image_size] * len(pictures)
    usage = vendor_usage.gemini(Usage(prompt, tokens, len(parts) * 100))
    details = [{"modality": "IMAGE", "tokenCount": tokens}]
    metadata = {"usageMetadata": usage | {"candidatesTokensDetails": details}}
    return {"candidates": [candidate]} | ({} if exchange.steering.no_usage else metadata) | named


def _reason(exchange: Exchange, pictures: list[Picture]) -> str:
    if exchange.steering.finish is not None:
        return exchange.steering.finish
    if exchange.steering.refusal:
        return "IMAGE_SAFETY"
    return "STOP" if pictures else "NO_IMAGE"


def _draft(picture: Picture, number: int) -> Picture:
    return replace(picture, seed=f"{picture.seed} draft {number}")


def _inline(exchange: Exchange, picture: Picture) -> Json:
    return {"mimeType": "image/png", "data": images.encoded(exchange, picture)}
