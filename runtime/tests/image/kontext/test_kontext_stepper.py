"""Kontext step by step: the pictures of Diffusers' pipeline, in any batch."""

from __future__ import annotations

import json

import pytest
import torch
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.kontext.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.kontext.stepper import KontextStepper, PictureRequest
from bakehouse_runtime.train.kontext.model import export_kontext

from ..tiny import difference, tiny_autoencoder, tiny_transformer

CPU = torch.device("cpu")
PICTURE = Image.effect_mandelbrot((90, 50), (-2, -1.5, 1, 1.5), 40).convert("RGB")


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> KontextPipeline:
    folder = tmp_path_factory.mktemp("model") / "kontext"
    export_kontext(tiny_transformer(), tiny_autoencoder(), folder, torch.float32)
    return KontextPipeline.from_folder(folder, CPU)


@pytest.fixture(scope="module")
def guided_pipeline(tmp_path_factory: pytest.TempPathFactory) -> KontextPipeline:
    folder = tmp_path_factory.mktemp("guided") / "kontext"
    export_kontext(tiny_transformer(), tiny_autoencoder(), folder, torch.float32)
    index = json.loads((folder / "model_index.json").read_text()) | {"true_guidance": True}
    (folder / "model_index.json").write_text(json.dumps(index))
    return KontextPipeline.from_folder(folder, CPU)


def test_it_generates_what_the_pipeline_generates(pipeline: KontextPipeline) -> None:
    stepper = KontextStepper(pipeline)
    request = KontextRequest("make it blue", seed=3, steps=5, guidance=3)
    [edited] = stepper.generate([PictureRequest("make it blue", 3, 5, 3, PICTURE)])
    assert difference(edited.picture, pipeline.edit(PICTURE, request)) <= 1
    [generated] = stepper.generate([PictureRequest("make it blue", 3, 5, 3, None)])
    assert difference(generated.picture, pipeline.generate(request)) <= 1
    assert difference(generated.picture, edited.picture) > 1


def test_a_model_without_a_guidance_of_its_own_gets_true_guidance(
    pipeline: KontextPipeline, guided_pipeline: KontextPipeline
) -> None:
    stepper = KontextStepper(guided_pipeline)
    request = KontextRequest("make it blue", seed=3, steps=5, true_guidance=3)
    [edited] = stepper.generate([PictureRequest("make it blue", 3, 5, 3, PICTURE)])
    assert difference(edited.picture, pipeline.edit(PICTURE, request)) <= 1
    [generated] = stepper.generate([PictureRequest("make it blue", 3, 5, 3, None)])
    assert difference(generated.picture, pipeline.generate(request)) <= 1
    [plain] = stepper.generate([PictureRequest("make it blue", 3, 5, 1, PICTURE)])
    assert difference(edited.picture, plain.picture) > 1


@pytest.mark.parametrize("is_guided", [False, True])
def test_a_picture_does_not_depend_on_its_batch(
    pipeline: KontextPipeline, guided_pipeline: KontextPipeline, is_guided: bool
) -> None:
    stepper = KontextStepper(guided_pipeline if is_guided else pipeline)
    requests = [
        PictureRequest("make it blue", 1, 5, 3, PICTURE),
        PictureRequest("add a hat", 2, 2, 1, PICTURE.rotate(90, expand=True)),
        PictureRequest("a red car", 3, 4, 2.5, None),
    ]
    together = stepper.generate(requests)
    for request, generated in zip(requests, together, strict=True):
        assert difference(generated.picture, stepper.generate([request])[0].picture) <= 1


def test_sizes_of_a_full_size_model(
    pipeline: KontextPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipeline itself at full size is too much for a test: its times and its two sizes, that of
    the generated picture and that of the condition, are its own."""
    stepper = KontextStepper(pipeline)
    monkeypatch.setattr(pipeline, "side", 1024)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "bakehouse_runtime.image.kontext.stepper.encode_pictures",
        lambda _, pictures: seen.append(pictures[0].size) or torch.zeros(1, 4, 84, 194),
    )
    sampling = stepper.begin(PictureRequest("make it blue", 1, 2, 2.5, PICTURE.resize((700, 300))))
    assert seen == [(1568, 672)]
    # Of 8 pixels a latent: 1024 x 1024 in the ratio of the picture.
    assert sampling.latents.shape == (4, 2 * (670 // 16), 2 * (1564 // 16))


def test_a_waiting_request_keeps_of_its_picture_what_the_model_reads(
    pipeline: KontextPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepper = KontextStepper(pipeline)
    sent = PictureRequest("make it blue", 3, 2, 3, PICTURE.resize((6000, 4000)))
    waiting = stepper.prepared(sent)
    assert waiting.picture is not None
    assert waiting.picture.size == (32, 32)
    assert stepper.prepared(waiting) is waiting
    [at_once], [later] = stepper.generate([sent]), stepper.generate([waiting])
    assert difference(at_once.picture, later.picture) == 0
    # A full-size model generates in the ratio of what was sent, and reads another one.
    monkeypatch.setattr(pipeline, "side", 1024)
    monkeypatch.setattr(
        "bakehouse_runtime.image.kontext.stepper.encode_pictures",
        lambda *_: torch.zeros(1, 4, 84, 194),
    )
    waiting = stepper.prepared(sent)
    assert waiting.picture is not None
    assert waiting.picture.size == (1248, 832)
    shapes = [stepper.begin(one).latents.shape for one in (sent, waiting)]
    assert shapes[0] == shapes[1] == (4, 2 * (836 // 16), 2 * (1254 // 16))


def test_a_preview_is_half_as_large(pipeline: KontextPipeline) -> None:
    stepper = KontextStepper(pipeline)
    sampling = stepper.begin(PictureRequest("make it blue", 1, 2, 2.5, PICTURE))
    stepper.step([sampling])
    assert stepper.preview(sampling).size == (16, 16)


def test_a_prompt_that_is_too_long_is_refused(pipeline: KontextPipeline) -> None:
    with pytest.raises(PlainError, match="this model reads at most 32"):
        KontextStepper(pipeline).begin(PictureRequest("cat " * 40, 1, 2, 2.5, PICTURE))
