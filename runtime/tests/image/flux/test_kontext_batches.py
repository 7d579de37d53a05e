"""Compares Kontext step by step with Diffusers' pipelines, in any batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.flux.family import Flux
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest

from ..tiny import difference, write_tiny_kontext
from .by_diffusers import Diffusers

CPU = torch.device("cpu")
PICTURE = Image.effect_mandelbrot((90, 50), (-2, -1.5, 1, 1.5), 40).convert("RGB")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_kontext(tmp_path_factory.mktemp("model") / "kontext")


@pytest.fixture(scope="module")
def kontext(folder: Path) -> KontextPipeline:
    return KontextPipeline.from_folder(folder, CPU)


@pytest.fixture(scope="module")
def diffusers(folder: Path) -> Diffusers:
    return Diffusers(folder)


@pytest.fixture(scope="module")
def truly_guided(tmp_path_factory: pytest.TempPathFactory) -> KontextPipeline:
    folder = write_tiny_kontext(tmp_path_factory.mktemp("guided") / "kontext")
    index = json.loads((folder / "model_index.json").read_text()) | {"true_guidance": True}
    (folder / "model_index.json").write_text(json.dumps(index))
    return KontextPipeline.from_folder(folder, CPU)


def test_generates_the_same_pictures_as_diffusers(
    kontext: KontextPipeline, diffusers: Diffusers
) -> None:
    asked = ("make it blue", 3, 5)
    [edited] = kontext.generate([KontextRequest(*asked, 3, PICTURE)])
    assert difference(edited.media, diffusers.generate(*asked, PICTURE, guidance=3)) <= 1
    [generated] = kontext.generate([KontextRequest(*asked, 3)])
    assert difference(generated.media, diffusers.generate(*asked, guidance=3)) <= 1
    assert difference(generated.media, edited.media) > 1


def test_uses_true_guidance_without_distilled_guidance(
    truly_guided: KontextPipeline, diffusers: Diffusers
) -> None:
    asked = ("make it blue", 3, 5)
    [edited] = truly_guided.generate([KontextRequest(*asked, 3, PICTURE)])
    assert difference(edited.media, diffusers.generate(*asked, PICTURE, true_guidance=3)) <= 1
    [generated] = truly_guided.generate([KontextRequest(*asked, 3)])
    assert difference(generated.media, diffusers.generate(*asked, true_guidance=3)) <= 1
    [plain] = truly_guided.generate([KontextRequest(*asked, 1, PICTURE)])
    assert difference(edited.media, plain.media) > 1


@pytest.mark.parametrize("is_guided", [False, True])
def test_a_picture_does_not_depend_on_its_batch(
    kontext: KontextPipeline, truly_guided: KontextPipeline, is_guided: bool
) -> None:
    model = truly_guided if is_guided else kontext
    requests = [
        KontextRequest("make it blue", 1, 5, 3, PICTURE),
        KontextRequest("add a hat", 2, 2, 1, PICTURE.rotate(90, expand=True)),
        KontextRequest("a red car", 3, 4, 2.5, None),
    ]
    together = model.generate(requests)
    for request, generated in zip(requests, together, strict=True):
        assert difference(generated.media, model.generate([request])[0].media) <= 1


def test_uses_the_sizes_of_a_full_size_model(
    kontext: KontextPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full-size pipeline is too large for a test: only compare its times and the sizes of the
    generated picture and of the condition."""
    monkeypatch.setattr(Flux, "side", 1024)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(
        Flux,
        "encode",
        lambda _, pictures: seen.append(pictures[0].size) or torch.zeros(1, 4, 84, 194),
    )
    sampling = kontext.begin(KontextRequest("make it blue", 1, 2, 2.5, PICTURE.resize((700, 300))))
    assert seen == [(1568, 672)]
    # 8 pixels per latent: the area of 1024 x 1024 in the ratio of the picture.
    assert sampling.latents.shape == (4, 2 * (670 // 16), 2 * (1564 // 16))


def test_scales_the_picture_of_a_waiting_request(
    kontext: KontextPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = KontextRequest("make it blue", 3, 2, 3, PICTURE.resize((6000, 4000)))
    waiting = kontext.prepared(sent)
    assert waiting.picture is not None
    assert waiting.picture.size == (32, 32)
    assert kontext.prepared(waiting) is waiting
    [at_once], [later] = kontext.generate([sent]), kontext.generate([waiting])
    assert difference(at_once.media, later.media) == 0
    # A full-size model generates in the ratio of the uploaded picture, but reads a picture of
    # another ratio.
    monkeypatch.setattr(Flux, "side", 1024)
    monkeypatch.setattr(Flux, "encode", lambda *_: torch.zeros(1, 4, 84, 194))
    waiting = kontext.prepared(sent)
    assert waiting.picture is not None
    assert waiting.picture.size == (1248, 832)
    shapes = [kontext.begin(one).latents.shape for one in (sent, waiting)]
    assert shapes[0] == shapes[1] == (4, 2 * (836 // 16), 2 * (1254 // 16))


def test_a_preview_is_half_as_large(kontext: KontextPipeline) -> None:
    sampling = kontext.begin(KontextRequest("make it blue", 1, 2, 2.5, PICTURE))
    kontext.step([sampling])
    assert kontext.preview(sampling).size == (16, 16)


def test_rejects_a_prompt_that_is_too_long(kontext: KontextPipeline) -> None:
    with pytest.raises(PlainError, match="this model reads at most 32"):
        kontext.begin(KontextRequest("cat " * 40, 1, 2, 2.5, PICTURE))
