"""The image and video models that can be served, and the requests of each."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch
from PIL import Image

from ..errors import PlainError
from ..image.flux.pipeline import KontextPipeline, KontextRequest
from ..image.lora import ChosenLora
from ..image.paris.pipeline import ParisPipeline, ParisRequest
from ..image.picture_file import Format
from ..image.pictures import decode_mask, decode_picture
from ..image.pipeline import Pipeline
from ..image.wan.pipeline import VideoPipeline, VideoRequest
from ..protocol import ImageLora, KontextImageRequest, ParisImageRequest, WanVideoRequest

ImageRequest: TypeAlias = ParisImageRequest | KontextImageRequest | WanVideoRequest

_PICTURE_BYTES_MAX = 20 * 1024 * 1024
_BODY_BYTES_MAX = 65536
# Encoded in base64.
_PICTURE_BODY_BYTES_MAX = _BODY_BYTES_MAX + _PICTURE_BYTES_MAX * 4 // 3 + 4


@dataclass(frozen=True)
class ImageEngine:
    """A family of models: how to load one, and how to convert an API call to its request."""

    # (folder, device, dtype) -> a model that has run one step.
    load: Callable[[Path, torch.device, torch.dtype], Pipeline[Any, Any]]
    wire: type[ImageRequest]
    # (call, file of its LoRA) -> request; Paris has no LoRAs. Raises PlainError for an unreadable
    # picture.
    to_request: Callable[[Any, Path | None], object]
    body_bytes_max: int


def lora_of(request: ImageRequest) -> ImageLora | None:
    """Returns the LoRA of a call, if any."""
    return request.lora if isinstance(request, KontextImageRequest) else None


def brings_picture(request: ImageRequest) -> bool:
    """Returns whether a call has a picture to unpack."""
    return not isinstance(request, ParisImageRequest) and request.picture is not None


def format_of(request: ImageRequest) -> Format | None:
    """Returns the requested picture format; None for a video, which has only one format."""
    return None if isinstance(request, WanVideoRequest) else request.format


# Each loader runs one step: the first step on a device is slow, and a model that produces NaN must
# not become ready.


def _load_paris(folder: Path, device: torch.device, dtype: torch.dtype) -> ParisPipeline:
    paris = ParisPipeline.from_folder(folder, device, dtype)
    paris.generate([ParisRequest("", seed=0, steps=1)])
    return paris


def _load_kontext(folder: Path, device: torch.device, dtype: torch.dtype) -> KontextPipeline:
    kontext = KontextPipeline.from_folder(folder, device, dtype)
    grey = Image.new("RGB", (kontext.side, kontext.side), "grey")
    kontext.generate([KontextRequest("", seed=0, steps=1, guidance=1, picture=grey)])
    return kontext


def _load_wan(folder: Path, device: torch.device, dtype: torch.dtype) -> VideoPipeline:
    wan = VideoPipeline.from_folder(folder, device, dtype)
    # The shortest video: at full size a long one would take a minute.
    wan.generate([VideoRequest("", seed=0, steps=1, guidance=1, seconds=0.1)])
    return wan


def _paris_request(wire: ParisImageRequest, _: Path | None) -> ParisRequest:
    return ParisRequest(wire.prompt, wire.seed, wire.steps, wire.guidance, wire.strategy, wire.k)


def _kontext_request(wire: KontextImageRequest, file: Path | None) -> KontextRequest:
    picture = None if wire.picture is None else decode_picture(_file(wire.picture))
    lora = ChosenLora(wire.lora.id, file, wire.lora.scale) if wire.lora and file else None
    mask = None if picture is None or wire.mask is None else decode_mask(_file(wire.mask))
    return KontextRequest(
        wire.prompt,
        wire.seed,
        wire.steps,
        wire.guidance,
        picture,
        lora,
        mask,
        wire.strength,
        wire.negative_prompt,
    )


def _wan_request(wire: WanVideoRequest, _: Path | None) -> VideoRequest:
    return VideoRequest(
        wire.prompt,
        wire.seed,
        wire.steps,
        wire.guidance,
        wire.negative_prompt,
        None if wire.picture is None else decode_picture(_file(wire.picture)),
        wire.seconds,
        wire.width,
        wire.height,
    )


def _file(text: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise PlainError("picture is not base64.") from error
    if len(content) > _PICTURE_BYTES_MAX:
        raise PlainError("The picture is larger than 20 MB.")
    return content


image_engines = {
    "paris": ImageEngine(_load_paris, ParisImageRequest, _paris_request, _BODY_BYTES_MAX),
    "kontext": ImageEngine(
        _load_kontext,
        KontextImageRequest,
        _kontext_request,
        # A picture and its mask.
        2 * _PICTURE_BODY_BYTES_MAX,
    ),
    "wan": ImageEngine(_load_wan, WanVideoRequest, _wan_request, _PICTURE_BODY_BYTES_MAX),
}
