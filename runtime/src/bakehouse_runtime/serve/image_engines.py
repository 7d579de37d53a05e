"""The image models that can be served, and what each is asked."""

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
from ..image.pictures import decode_picture
from ..image.pipeline import Pipeline
from ..protocol import ImageLora, KontextImageRequest, ParisImageRequest

ImageRequest: TypeAlias = ParisImageRequest | KontextImageRequest

_PICTURE_BYTES_MAX = 20 * 1024 * 1024
_BODY_BYTES_MAX = 65536


@dataclass(frozen=True)
class ImageEngine:
    """A family of models: how one is loaded, and how a call becomes a request of it."""

    # Folder, device and number format -> a model that has taken a step.
    load: Callable[[Path, torch.device, torch.dtype], Pipeline[Any, Any]]
    wire: type[ImageRequest]
    # Call, and the file of its LoRA, which Paris has none of. Raises PlainError for a picture that
    # cannot be read.
    to_request: Callable[[Any, Path | None], object]
    body_bytes_max: int


def lora_of(request: ImageRequest) -> ImageLora | None:
    """The LoRA that a call wants."""
    return request.lora if isinstance(request, KontextImageRequest) else None


def brings_picture(request: ImageRequest) -> bool:
    """Whether a call has a picture to be unpacked."""
    return isinstance(request, KontextImageRequest) and request.picture is not None


# The first step on a device takes long; and a model that yields no numbers never gets ready.


def _load_paris(folder: Path, device: torch.device, dtype: torch.dtype) -> ParisPipeline:
    paris = ParisPipeline.from_folder(folder, device, dtype)
    paris.generate([ParisRequest("", seed=0, steps=1)])
    return paris


def _load_kontext(folder: Path, device: torch.device, dtype: torch.dtype) -> KontextPipeline:
    kontext = KontextPipeline.from_folder(folder, device, dtype)
    grey = Image.new("RGB", (kontext.side, kontext.side), "grey")
    kontext.generate([KontextRequest("", seed=0, steps=1, guidance=1, picture=grey)])
    return kontext


def _paris_request(wire: ParisImageRequest, _: Path | None) -> ParisRequest:
    return ParisRequest(wire.prompt, wire.seed, wire.steps, wire.guidance, wire.strategy, wire.k)


def _kontext_request(wire: KontextImageRequest, file: Path | None) -> KontextRequest:
    picture = None if wire.picture is None else decode_picture(_file(wire.picture))
    lora = ChosenLora(wire.lora.id, file, wire.lora.scale) if wire.lora and file else None
    return KontextRequest(wire.prompt, wire.seed, wire.steps, wire.guidance, picture, lora)


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
        # In base64.
        _BODY_BYTES_MAX + _PICTURE_BYTES_MAX * 4 // 3 + 4,
    ),
}
