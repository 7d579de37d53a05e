"""Changes of a part of a picture: masks, strength and negative prompts."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from bakehouse_runtime.errors import PlainError, RequestError
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.inpainting import Inpainting
from bakehouse_runtime.image.pictures import decode_mask

from ..tiny import difference, write_tiny_kontext

PICTURE = Image.effect_mandelbrot((90, 50), (-2, -1.5, 1, 1.5), 40).convert("RGB")
STARTER = Path(__file__).parents[4] / "models" / "starter-kontext"
AREA = (60, 10, 80, 30)


@pytest.fixture(scope="module")
def kontext(tmp_path_factory: pytest.TempPathFactory) -> KontextPipeline:
    folder = write_tiny_kontext(tmp_path_factory.mktemp("model") / "kontext")
    return KontextPipeline.from_folder(folder, torch.device("cpu"))


@pytest.fixture(scope="module")
def starter() -> KontextPipeline:
    return KontextPipeline.from_folder(STARTER, torch.device("cpu"))


def mask_of(area: tuple[int, int, int, int], size: tuple[int, int] = PICTURE.size) -> Image.Image:
    """`area` includes its right and bottom edges, like in Pillow's drawing calls."""
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).rectangle(area, fill=255)
    return mask


def png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def test_a_mask_keeps_all_other_pixels(kontext: KontextPipeline) -> None:
    mask = mask_of(AREA)
    asked = KontextRequest("make it blue", 3, 4, 2.5, PICTURE, mask=mask)
    [changed] = kontext.generate([asked])
    before, after = np.asarray(PICTURE), np.asarray(changed.media)
    inside = np.asarray(mask) > 0
    assert after.shape == before.shape
    assert (after[~inside] == before[~inside]).all()
    assert (after[inside] != before[inside]).any(axis=-1).mean() > 0.9

    [whole] = kontext.generate([KontextRequest("make it blue", 3, 4, 2.5, PICTURE)])
    assert difference(whole.media, PICTURE.resize(whole.media.size)) > 1


def test_a_masked_picture_does_not_depend_on_its_batch(kontext: KontextPipeline) -> None:
    requests = [
        KontextRequest("make it blue", 1, 5, 3, PICTURE, mask=mask_of(AREA)),
        KontextRequest("make it blue", 2, 3, 3, PICTURE, strength=0.5),
        KontextRequest("make it blue", 3, 4, 3, PICTURE),
    ]
    for request, together in zip(requests, kontext.generate(requests), strict=True):
        assert difference(kontext.generate([request])[0].media, together.media) <= 1


def test_soft_edges_mix_both_pictures() -> None:
    mask = mask_of(AREA).point([value // 2 for value in range(256)])
    inpainting = Inpainting.of(PICTURE, mask, side=32)
    white = Image.new("RGB", (32, 32), "white")
    mixed = np.asarray(inpainting.pasted(white)).astype(int)
    expected = (np.asarray(PICTURE).astype(int) + 255) / 2
    inside = np.asarray(mask) > 0
    assert np.abs(mixed - expected)[inside].max() <= 2


def test_the_model_reads_the_surroundings_of_the_area() -> None:
    def box(area: tuple[int, int, int, int], side: int) -> tuple[int, int, int, int]:
        return Inpainting.of(PICTURE, mask_of(area), side).box

    # At least the model's own size, at most the picture, twice the area in between.
    assert box((80, 40, 82, 42), 32) == (58, 18, 90, 50)
    assert box((30, 15, 49, 34), 32) == (20, 5, 60, 45)
    assert box((0, 0, 89, 49), 32) == (0, 0, 90, 50)


def test_a_thin_line_changes_its_latents() -> None:
    picture = Image.new("RGB", (3000, 2400))
    inpainting = Inpainting.of(picture, mask_of((100, 100, 100, 2000), picture.size), side=128)
    assert inpainting.picture.width * inpainting.picture.height <= 6_000_000
    assert inpainting.changed_latents(16, 16).sum() >= 8


def test_transparency_marks_the_change() -> None:
    mask = Image.new("RGBA", (4, 2), (0, 0, 0, 255))
    mask.putpixel((1, 0), (0, 0, 0, 0))
    mask.putpixel((2, 1), (0, 0, 0, 155))
    decoded = np.asarray(decode_mask(png(mask)))
    assert decoded.tolist() == [[0, 255, 0, 0], [0, 0, 100, 0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (png(Image.new("RGBA", (90, 50), "red")), "The mask has no transparent area"),
        (png(Image.new("RGB", (90, 50))), "The mask has no transparent area"),
        (png(Image.new("RGBA", (50, 90))), "The mask has 50 x 90 pixels, but the picture has 90"),
        (b"just text", "The mask must be a PNG, JPEG or WebP file."),
    ],
)
def test_an_unusable_mask_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        Inpainting.of(PICTURE, decode_mask(content), side=32)
    assert refused.value.field == "mask"


def test_strength_keeps_more_of_the_picture(starter: KontextPipeline) -> None:
    with Image.open(STARTER / "samples.png") as samples:
        picture = samples.convert("RGB").crop((0, 0, 128, 128))

    def change(strength: float) -> float:
        request = KontextRequest("make it blue", 7, 6, 2.5, picture, strength=strength)
        [generated] = starter.generate([request])
        return difference(generated.media, picture)

    assert change(0.1) < change(0.5) < change(1)


def test_negative_prompts_need_true_guidance(
    starter: KontextPipeline, kontext: KontextPipeline
) -> None:
    plain = KontextRequest("make it blue", 7, 4, 4, PICTURE)
    avoiding = KontextRequest("make it blue", 7, 4, 4, PICTURE, negative_prompt="green grass")
    results = [starter.generate([request])[0].media for request in (plain, avoiding)]
    assert difference(*results) > 1
    with pytest.raises(PlainError, match="no negative prompt"):
        kontext.generate([avoiding])
