"""The part of the price list that the studios use: models of videos and of 3D assets.

What each takes is what its provider's interface takes and our wire sends. For a film or an asset
the context window limits the prompt, and no tokens come out.
"""

from datetime import date
from functools import partial

from ai.catalog.listing import ModelSeed, per_asset, per_second
from ai.catalog.param_schemas import (
    STAGES,
    Json,
    choice,
    flag,
    given,
    job,
    needs,
    params,
    seed,
    stage_needs,
    text,
    upload,
    whole_number,
    without,
)

_video = partial(ModelSeed, modality="video", context_window=1_024, max_output_tokens=0)
_asset = partial(ModelSeed, modality="3d", context_window=1_024, max_output_tokens=0)

_VIDEO_FORMATS = ("video/mp4",)
_ASSET_FORMATS = ("model/gltf-binary",)
_START = upload("Start picture", "An upload: the first frame of the clip.")
_SHAPE = "Width to height of the clip."
_RESOLUTION = "Lines of the clip. It decides the price."
_UNWANTED = "What should not be seen."

VIDEO_MODELS = (
    _video(
        id="veo-3.1",
        display_name="Veo 3.1",
        provider="vertex",
        upstream_model="veo-3.1-generate-001",
        owned_by="google",
        released_on=date(2025, 10, 15),
        # Clips without sound cost half.
        prices=(
            per_second(
                {"720p": "0.20", "1080p": "0.20", "720p+audio": "0.40", "1080p+audio": "0.40"}
            ),
        ),
        params=params(
            {
                "seconds": choice("Seconds", "Length of the clip.", (4, 6, 8), default=8),
                "aspect_ratio": choice("Aspect ratio", _SHAPE, ("16:9", "9:16")),
                "resolution": choice("Resolution", _RESOLUTION, ("720p", "1080p")),
                "audio": flag("Sound", "With sound a clip costs more.", default=True),
                "negative_prompt": text("Negative prompt", _UNWANTED, 1_000),
                "seed": seed(),
                "start_image": _START,
                "end_image": upload("End picture", "An upload: the last frame of the clip."),
            },
            priced_by=("resolution", "audio"),
            formats=_VIDEO_FORMATS,
            prompt={"minLength": 1, "maxLength": 4_000},
            rules=(
                needs(
                    "end_image",
                    "start_image",
                    says="A clip with an end picture needs a start picture: give start_image too.",
                ),
            ),
            # A clip of at most 30 s can be extended. The whole clip comes back.
            extend={"seconds": [7], "longest": 37, "combined": True, "resolution": "720p"},
        ),
    ),
    _video(
        id="gen4.5",
        display_name="Runway Gen-4.5",
        provider="runway",
        released_on=date(2025, 12, 1),
        prices=(per_second({"720p": "0.12"}),),  # 12 credits of 0.01 USD
        params=params(
            {
                "seconds": whole_number("Seconds", "Length of the clip.", 2, 10, default=5),
                "aspect_ratio": choice(
                    "Aspect ratio", _SHAPE, ("16:9", "9:16", "4:3", "1:1", "3:4", "21:9")
                ),
                "resolution": choice("Resolution", _RESOLUTION, ("720p",)),
                "seed": seed(),
                "start_image": _START,
            },
            priced_by=("resolution",),
            formats=_VIDEO_FORMATS,
            prompt={"minLength": 1, "maxLength": 1_000},
            rules=(
                without(
                    "start_image",
                    aspect_ratio={"enum": ["16:9", "9:16"]},
                    says="Without a start picture, give 16:9 or 9:16.",
                ),
            ),
        ),
    ),
    _video(
        id="ray-2",
        display_name="Luma Ray 2",
        provider="luma",
        released_on=date(2025, 1, 15),
        # 0.0064 USD per 1,000,000 pixels of 24 frames a second, rounded up.
        prices=(per_second({"540p": "0.08", "720p": "0.142", "1080p": "0.319"}),),
        # It takes pictures only from addresses that anybody can read, and ours are not.
        params=params(
            {
                "seconds": choice("Seconds", "Length of the clip.", (5, 9)),
                "aspect_ratio": choice(
                    "Aspect ratio", _SHAPE, ("16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "9:21")
                ),
                "resolution": choice(
                    "Resolution", _RESOLUTION, ("540p", "720p", "1080p"), default="720p"
                ),
            },
            priced_by=("resolution",),
            formats=_VIDEO_FORMATS,
            prompt={"minLength": 3, "maxLength": 4_000},
            # Only the new seconds come back.
            extend={"seconds": [5], "longest": 30, "combined": False},
        ),
    ),
)


def _stages() -> tuple[Json, ...]:
    """The rules for the fields of the stages of a 3D asset."""
    return (
        given(
            "image",
            stage={"const": "image"},
            says="A picture is used at the stage image only: set the stage, or leave image out.",
        ),
        given(
            "refines",
            stage={"const": "refine"},
            says="A preview is refined at the stage refine only: set the stage, or leave refines "
            "out.",
        ),
        stage_needs(
            "image", "image", says="This stage needs a picture: give the id of an upload as image."
        ),
        stage_needs(
            "refine", "refines", says="This stage needs a preview: give the id of its job."
        ),
    )


_ASSET_FIELDS = {
    "stage": choice(
        "Stage", "A preview from text, the surface of a preview, or a model of a picture.", STAGES
    ),
    "image": upload("Picture", "An upload: the object to model."),
    "refines": job("Preview", "The job of the preview that gets a surface."),
}

ASSET_MODELS = (
    _asset(
        id="meshy-6",
        display_name="Meshy 6",
        provider="meshy",
        released_on=date(2026, 1, 20),
        # 20, 10 and, with a surface, 30 credits of 0.02 USD.
        prices=(per_asset({"preview": "0.40", "refine": "0.20", "image": "0.60"}),),
        params=params(
            {
                **_ASSET_FIELDS,
                "texture": flag("Surface", "Of a model of a picture.", default=True),
            },
            priced_by=("stage",),
            formats=_ASSET_FORMATS,
            prompt={
                "minLength": 1,
                "maxLength": 600,
                "optional": {"stage": ["refine", "image"]},
            },
            rules=_stages(),
        ),
    ),
    _asset(
        id="tripo-h3",
        display_name="Tripo H3",
        provider="tripo",
        upstream_model="v3.0-20250812",
        released_on=date(2025, 8, 12),
        # 20, 10 and 30 credits of 0.01 USD; without a surface, 10 less.
        prices=(per_asset({"preview": "0.20", "refine": "0.10", "image": "0.30"}),),
        params=params(
            {
                **_ASSET_FIELDS,
                "texture": flag(
                    "Surface", "Of a preview, or of a model of a picture.", default=True
                ),
                "negative_prompt": text("Negative prompt", _UNWANTED, 255),
                "seed": seed(most=2**31 - 1),
            },
            priced_by=("stage",),
            formats=_ASSET_FORMATS,
            prompt={
                "minLength": 1,
                "maxLength": 1_024,
                "optional": {"stage": ["refine", "image"]},
                "unused": {"stage": ["image"]},
            },
            rules=(
                *_stages(),
                given(
                    "negative_prompt",
                    stage={"const": "preview"},
                    says="A negative prompt is used at the stage preview only: leave it out.",
                ),
            ),
        ),
    ),
)
