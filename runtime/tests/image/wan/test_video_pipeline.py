"""Compares videos of a tiny Wan with Diffusers' own pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.pipelines.wan.pipeline_wan import WanPipeline
from diffusers.pipelines.wan.pipeline_wan_i2v import WanImageToVideoPipeline
from PIL import Image

from bakehouse_runtime.errors import RequestError
from bakehouse_runtime.image.text import TextStates, load_sentence_encoder
from bakehouse_runtime.image.video import Video
from bakehouse_runtime.image.wan.family import Wan
from bakehouse_runtime.image.wan.pipeline import VideoPipeline, VideoRequest

from .tiny import change_index, transformer, write_starter_wan, write_wan

CPU = torch.device("cpu")
SIZE: dict[str, Any] = {"seconds": 9 / 24, "width": 48, "height": 32}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_wan(tmp_path / "wan")


def noisy_picture() -> Image.Image:
    values = np.random.default_rng(1).integers(0, 255, (32, 48, 3), dtype=np.uint8)
    return Image.fromarray(values)


def by_diffusers(pipeline: Any, window: int = 512, **asked: Any) -> np.ndarray:
    pipeline.set_progress_bar_config(disable=True)
    frames = pipeline(
        num_frames=9, width=48, height=32, max_sequence_length=window,
        generator=torch.Generator().manual_seed(7), output_type="np", **asked,
    ).frames[0]  # fmt: skip
    return frames * 255


def video(pipeline: VideoPipeline, request: VideoRequest) -> Video:
    media = pipeline.generate([request])[0].media
    assert isinstance(media, Video)
    return media


def frames(pipeline: VideoPipeline, request: VideoRequest) -> np.ndarray:
    return video(pipeline, request).frames.astype(float)


@pytest.mark.parametrize("guidance", [1.0, 4.0])
def test_a_video_from_text_matches_diffusers(folder: Path, guidance: float) -> None:
    theirs = by_diffusers(
        WanPipeline.from_pretrained(folder), prompt="a cat", negative_prompt="dog",
        num_inference_steps=3, guidance_scale=guidance,
    )  # fmt: skip
    ours = VideoPipeline.from_folder(folder, CPU)
    request = VideoRequest("a cat", 7, 3, guidance, "dog", **SIZE)
    assert np.abs(frames(ours, request) - theirs).max() <= 1
    assert frames(ours, request).std() > 5


def test_a_video_from_a_picture_matches_diffusers(folder: Path) -> None:
    picture = noisy_picture()
    ours = VideoPipeline.from_folder(folder, CPU)
    # The pipeline cannot encode prompts without ftfy, which is not installed.
    told, nothing = (ours.family.text([prompt]).tokens for prompt in ("a cat", ""))
    theirs = by_diffusers(
        WanImageToVideoPipeline.from_pretrained(folder, expand_timesteps=True), image=picture,
        prompt_embeds=told, negative_prompt_embeds=nothing, num_inference_steps=3,
        guidance_scale=4.0,
    )  # fmt: skip
    request = VideoRequest("a cat", 7, 3, 4.0, "", picture, **SIZE)
    assert np.abs(frames(ours, request) - theirs).max() <= 1
    (again,) = ours.family.decode(ours.family.encode([Video(np.asarray(picture)[None], 24)]))
    # It starts with the picture, as far as the autoencoder preserves it.
    assert np.abs(frames(ours, request)[0] - again.frames[0].astype(float)).max() <= 1


def test_the_starter_encodes_prompts_with_the_installed_encoder(tmp_path: Path) -> None:
    starter = write_starter_wan(tmp_path / "starter")
    encoder, tokenizer = load_sentence_encoder(32)
    whole: Any = WanPipeline.from_pretrained(starter, text_encoder=encoder, tokenizer=tokenizer)
    whole.set_progress_bar_config(disable=True)
    theirs = whole(
        prompt="a red apple spins", num_frames=9, width=32, height=32, max_sequence_length=32,
        generator=torch.Generator().manual_seed(7), num_inference_steps=3, guidance_scale=3.0,
    ).frames[0]  # fmt: skip
    ours = VideoPipeline.from_folder(starter, CPU)
    found = frames(ours, VideoRequest("a red apple spins", 7, 3, 3.0))
    assert found.shape == (9, 32, 32, 3)
    assert np.abs(found - theirs * 255).max() <= 1


def test_a_video_does_not_depend_on_its_batch(folder: Path) -> None:
    ours = VideoPipeline.from_folder(folder, CPU)
    requests = [
        VideoRequest("a cat", 1, 4, 4.0, **SIZE),
        VideoRequest("a dog", 2, 4, 1.0, **SIZE),
        VideoRequest("a dog", 3, 2, 3.0, "cat", noisy_picture(), **SIZE),
        VideoRequest("a bird", 4, 3, 2.0, picture=noisy_picture(), **SIZE),
    ]
    together = [one.media for one in ours.generate(requests)]
    for request, made in zip(requests, together, strict=True):
        assert isinstance(made, Video)
        assert np.abs(frames(ours, request) - made.frames).max() <= 1


def test_the_velocity_of_the_first_frame_points_to_the_condition() -> None:
    """Therefore the first frame adds no loss in training, and Euler steps end at the condition."""
    network = transformer(8)
    latents, noise = torch.randn(2, 2, 4, 3, 4, 4)
    t = torch.tensor([0.3, 0.9])
    share = t.reshape(2, 1, 1, 1, 1)
    noised = (1 - share) * latents + share * noise
    found = Wan.velocity(network, noised, t, TextStates(torch.randn(2, 5, 8)), latents[:, :, :1])
    assert torch.allclose(found[:, :, :1], (noise - latents)[:, :, :1], atol=1e-4)
    assert not torch.allclose(found[:, :, 1:], (noise - latents)[:, :, 1:], atol=1e-1)


def test_a_preview_is_a_small_picture(folder: Path) -> None:
    ours = VideoPipeline.from_folder(folder, CPU)
    sampling = ours.begin(VideoRequest("a cat", 1, 2, 1.0, seconds=9 / 24, width=192, height=128))
    ours.step([sampling])
    assert ours.preview(sampling).size == (128, 85)


def test_rejects_prompts_beyond_the_window_by_field(tmp_path: Path) -> None:
    ours = VideoPipeline.from_folder(write_starter_wan(tmp_path / "starter"), CPU)
    with pytest.raises(RequestError, match="The negative prompt is 42 tokens long") as raised:
        ours.begin(VideoRequest("a cat", 1, negative_prompt="cat " * 40))
    assert raised.value.field == "negative_prompt"


def test_a_text_only_model_rejects_a_picture(folder: Path) -> None:
    change_index(folder, expand_timesteps=False)
    ours = VideoPipeline.from_folder(folder, CPU)
    assert video(ours, VideoRequest("a cat", 1, 1, 1.0, **SIZE)).fps == 16
    with pytest.raises(RequestError, match="from a prompt only") as raised:
        ours.begin(VideoRequest("a cat", 1, picture=noisy_picture()))
    assert raised.value.field == "picture"
