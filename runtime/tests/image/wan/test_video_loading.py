"""Tests the required files of a Wan folder, and the supported video sizes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers.models.transformers.transformer_wan import WanTransformer3DModel
from diffusers.schedulers.scheduling_unipc_multistep import UniPCMultistepScheduler

from bakehouse_runtime.image.wan.load import LARGEST, PUBLISHED_DEFAULTS, load_wan
from bakehouse_runtime.image.wan.pipeline import VideoPipeline, VideoRequest
from bakehouse_runtime.image.wan.size import VideoSize, VideoSizes

from ..conftest import one_sentence
from .tiny import (
    ONLY,
    TEXT_SIZE,
    change_index,
    transformer,
    write_published_scheduler,
    write_starter_wan,
    write_wan,
)

CPU = torch.device("cpu")
FULL = VideoSizes(*LARGEST[True], multiple=32, frames_a_latent=4)


def test_wan_has_the_published_shape() -> None:
    """Wan2.2-TI2V-5B according to its configuration."""
    with torch.device("meta"):
        model = WanTransformer3DModel(
            num_attention_heads=24, attention_head_dim=128, in_channels=48, out_channels=48,
            text_dim=4096, ffn_dim=14336, num_layers=30,
        )  # fmt: skip
    assert sum(weight.numel() for weight in model.parameters()) == 4_999_787_712


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        ((5, 1280, 704), (1280, 704, 121)),
        ((60, 4096, 4096), (928, 928, 121)),
        ((0.01, 16, 16), (32, 32, 5)),
        ((2, 832, 480), (832, 480, 49)),
        ((2, 480, 832), (480, 832, 49)),
    ],
)
def test_rounds_a_video_to_the_nearest_supported_size(
    asked: tuple[float, int, int], made: tuple[int, int, int]
) -> None:
    assert FULL.nearest(*asked) == VideoSize(*made)


def test_keeps_the_ratio_of_the_first_frame() -> None:
    assert FULL.nearest(1, 832, 480, ratio=1.0) == VideoSize(608, 608, 25)


def test_the_starter_supports_one_size(tmp_path: Path) -> None:
    model = load_wan(write_starter_wan(tmp_path / "starter"))
    assert model.sizes.nearest(5, 832, 480) == VideoSize(32, 32, 9)
    assert (model.defaults.steps, model.defaults.guidance, model.family.fps) == (4, 3.0, 8.0)


def test_uses_the_published_defaults(tmp_path: Path) -> None:
    model = load_wan(write_wan(tmp_path / "wan"), torch.bfloat16)
    assert (model.defaults, model.sizes.is_only) == (PUBLISHED_DEFAULTS, False)
    assert model.transformer.dtype == torch.bfloat16
    assert model.family.autoencoder.dtype == torch.float32


def test_uses_the_times_of_the_published_scheduler(tmp_path: Path) -> None:
    folder = write_wan(tmp_path / "wan")
    write_published_scheduler(folder)
    times = VideoPipeline.from_folder(folder, CPU).begin(VideoRequest("", 1, 10))._times
    published: Any = UniPCMultistepScheduler.from_pretrained(folder / "scheduler")
    published.set_timesteps(10)
    assert times == pytest.approx(published.sigmas.tolist())
    # Shifted towards noise: half of the steps are above 0.8.
    assert times[5] > 0.8
    assert times[-1] == 0


def test_rejects_folders_that_are_no_wan(tmp_path: Path) -> None:
    folder = write_wan(tmp_path / "wan")

    def refused(part: str) -> None:
        with one_sentence(part):
            load_wan(folder)

    change_index(folder, transformer_2=["diffusers", "WanTransformer3DModel"])
    refused("has a transformer_2")
    change_index(folder, transformer_2=[None, None], _class_name="FluxPipeline")
    refused("is a FluxPipeline, not a Wan model")
    change_index(folder, _class_name="WanPipeline", film={"width": 32})
    refused("does not name width, height, frames, fps")
    change_index(folder, film=ONLY | {"frames": "many"})
    refused("does not name width, height, frames, fps")
    change_index(folder, film=ONLY | {"width": ONLY["width"] + 1})
    refused("must have sides that are multiples of")
    change_index(folder, film=ONLY | {"frames": ONLY["frames"] + 1})
    refused("one more than a multiple of 4")
    change_index(folder, film=ONLY | {"width": 16384, "height": 16384})
    refused("1280 x 704 pixels and 121 frames at most")
    change_index(folder, film=ONLY)
    (folder / "scheduler" / "scheduler_config.json").write_text('{"_class_name": "LCMScheduler"}')
    refused("The scheduler of the model is a LCMScheduler")
    transformer(TEXT_SIZE + 8).save_pretrained(folder / "transformer")
    refused(f"reads text states of size {TEXT_SIZE + 8}, but the text encoder gives {TEXT_SIZE}")
    transformer(TEXT_SIZE, channels=9).save_pretrained(folder / "transformer")
    refused("do not have the same latent channels")
    (folder / "transformer" / "diffusion_pytorch_model.safetensors").write_bytes(b"nothing")
    refused("The transformer cannot be loaded")
    shutil.rmtree(folder / "transformer")
    refused("The folder transformer of the model is missing")
    (folder / "model_index.json").unlink()
    refused("has no model_index.json")
