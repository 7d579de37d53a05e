"""Tests videos: moving scenes, their motion check, and trainings on tiny shapes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan
from diffusers.pipelines.wan.pipeline_wan import WanPipeline

from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.latent_cache import LatentCache, write_latent_cache
from bakehouse_runtime.image.video import Video, to_values
from bakehouse_runtime.image.wan.autoencoder import decoded, posterior
from bakehouse_runtime.image.wan.family import Wan
from bakehouse_runtime.image.wan.pipeline import VideoPipeline, VideoRequest
from bakehouse_runtime.train.diffusion.train import DiffusionTraining, train_network
from image.line import SETTINGS, Recorder
from workshop.autoencoder import psnr
from workshop.evaluation.judge import Judge
from workshop.scenes.objects import CutOut
from workshop.videos.autoencoder import (
    VideoAutoencoderShape,
    VideoAutoencoderTraining,
    build_video_autoencoder,
    export_video_autoencoder,
    train_video_autoencoder,
)
from workshop.videos.examples import SceneVideos, VideoExamples
from workshop.videos.figures import (
    VideoPrompt,
    controls,
    figures_of,
    held_out_videos,
    measure_videos,
    sample_sheet,
)
from workshop.videos.motion_check import MotionCheck, change, distance
from workshop.videos.release import video_table
from workshop.videos.scenes import (
    MOTIONS,
    VideoScene,
    VideoShape,
    draw_video_scene,
    has_held_out,
    poses,
    render_video,
    video_caption,
    video_objects,
    video_scene,
)
from workshop.videos.steps import with_first_frames
from workshop.videos.transformer import build_video_transformer, export_wan

SHAPE = VideoShape(side=48, frames=17, objects=4)
TINY = VideoShape(side=16, frames=5, objects=4)
NAMES = ("red apple", "lemon", "soccer ball", "taxi")


@pytest.fixture(scope="module")
def things(shaded_objects: list[CutOut]) -> list[CutOut]:
    """Objects with names that videos use."""
    return [replace(one, name=name) for one, name in zip(shaded_objects, NAMES, strict=False)]


def scene_of(things: Sequence[CutOut], motion: str, seed: int = 1, first: int = 0) -> VideoScene:
    rng = np.random.default_rng(seed)
    return video_scene(rng, video_objects(things, SHAPE), first, motion)


def video_of(things: Sequence[CutOut], motion: str, seed: int = 1) -> Video:
    return render_video(scene_of(things, motion, seed), things, SHAPE)


def test_captions_describe_the_motion(things: list[CutOut]) -> None:
    def on(ground: str | None, motion: str) -> str:
        scene = scene_of(things, motion)
        return video_caption(replace(scene, ground=replace(scene.ground, name=ground)), things)

    captions = {motion: on(None, motion) for motion in MOTIONS}
    assert captions["left"] == "a red apple moves to the left"
    assert captions["clouds"] == "a red apple in the sky while clouds pass"
    assert captions["meet"].startswith("a red apple and a ")
    assert len(set(captions.values())) == len(MOTIONS)
    assert on("blue", "spins") == "a red apple spins on a blue background"


def test_objects_follow_their_motion(things: list[CutOut]) -> None:
    def ends(motion: str) -> tuple[float, float, float]:
        scene = scene_of(things, motion)
        before, after = poses(scene, 0)[0], poses(scene, 1)[0]
        return after.x - before.x, after.y - before.y, after.width / before.width

    assert ends("left")[0] < -0.3
    assert ends("right")[0] > 0.3
    assert ends("up")[1] < -0.3
    assert ends("down")[1] > 0.3
    assert ends("nearer")[2] > 1.5
    assert ends("away")[2] < 0.7
    scene = scene_of(things, "meet")
    apart, together = (abs(poses(scene, u)[1].x - poses(scene, u)[0].x) for u in (0.0, 1.0))
    assert together < apart - 0.3


def test_a_video_depends_only_on_its_scene_and_can_be_cut(things: list[CutOut]) -> None:
    scene = scene_of(things, "spins")
    whole = render_video(scene, things, SHAPE)
    assert whole.frames.shape == (17, 48, 48, 3)
    cut = render_video(scene, things, SHAPE, range(4, 9))
    assert np.array_equal(cut.frames, whole.frames[4:9])


def test_holds_out_one_combination_in_ten(things: list[CutOut]) -> None:
    rng = np.random.default_rng(1)
    objects = video_objects(things, SHAPE)
    for _ in range(40):
        assert not has_held_out(draw_video_scene(rng, things, objects, objects[0]), things)
    for prompt in held_out_videos(things, SHAPE, 12, "reporting"):
        assert has_held_out(prompt.scene, things)
    reported = {one.seed for one in held_out_videos(things, SHAPE, 6, "reporting")}
    assert reported.isdisjoint(one.seed for one in held_out_videos(things, SHAPE, 6, "choosing"))


def test_the_check_detects_motions_of_real_videos_only(things: list[CutOut]) -> None:
    check = MotionCheck(things, SHAPE)
    prompts, videos = [], []
    for number, motion in enumerate([*MOTIONS, *MOTIONS]):
        scene = scene_of(things, motion, 100 + number, number % 4)
        prompts.append(VideoPrompt(video_caption(scene, things), scene, number))
        videos.append(render_video(scene, things, SHAPE))
    judge = Judge(len(things))

    def right(row: Sequence[Video]) -> float:
        return figures_of(row, prompts, judge, check)["motion_right"]

    failing = controls(videos)
    assert right(videos) > 0.85
    assert right(failing["still"]) == 0
    assert right(failing["shuffled"]) < 0.4
    assert right(failing["other_caption"]) < 0.2
    rng = np.random.default_rng(1)
    noise = [Video(rng.integers(0, 255, video.frames.shape, np.uint8), 8) for video in videos]
    assert right(noise) < 0.2
    moves = figures_of(videos, prompts, judge, check)
    assert moves["direction_right"] == 1
    assert moves["speed"] == pytest.approx(0.9, abs=0.15)


def test_measures_distance_and_change_of_known_videos(things: list[CutOut]) -> None:
    across, down = distance(video_of(things, "right"))
    assert across > 0.25
    assert abs(down) < 0.1
    still = Video(np.repeat(video_of(things, "right").frames[:1], 17, axis=0), 8)
    assert change(still) == 0
    assert change(video_of(things, "shakes")) > 0


def test_an_autoencoder_starts_with_the_colours_of_blocks(things: list[CutOut]) -> None:
    model = build_video_autoencoder(VideoAutoencoderShape(), seed=1)
    values = to_values([video_of(things, "right")])
    with torch.no_grad():
        seen = posterior(model, values)
        assert seen.mean.shape == (1, 8, 5, 6, 6)
        assert psnr(decoded(model, seen.mean), values) > 17


def trained_autoencoder(things: Sequence[CutOut], folder: Path, steps: int) -> AutoencoderKLWan:
    model = build_video_autoencoder(VideoAutoencoderShape(width=32), seed=1)
    source = SceneVideos(things, TINY)
    held_out = source.draw(np.random.default_rng(9), 4, TINY.frames)
    recorder = Recorder()
    loop = replace(SETTINGS, steps=steps, learning_rate=3e-4, average_decay=0.8)
    settings = VideoAutoencoderTraining(loop, ((1, 4), (5, 2)))
    assert train_video_autoencoder(model, source, held_out, settings, folder, recorder, "cpu")
    assert recorder.curve("eval_psnr")[-1] > recorder.curve("eval_psnr")[0] - 1
    assert list((folder / "samples").glob("*.png"))
    export_video_autoencoder(model, held_out, folder / "model")
    written = AutoencoderKLWan.from_pretrained(folder / "model")
    assert all(deviation > 0 for deviation in written.config["latents_std"])
    return written


@pytest.mark.soak
def test_trains_writes_measures_and_shows_a_starter(
    things: list[CutOut], sentences: SentenceText, tmp_path: Path
) -> None:
    autoencoder = trained_autoencoder(things, tmp_path / "autoencoder", 20)
    family = Wan(autoencoder, sentences, TINY.fps)
    examples = VideoExamples(things, TINY, 6, seed=2)
    assert write_latent_cache(tmp_path / "latents", examples, family, Recorder())
    data = with_first_frames(LatentCache(tmp_path / "latents"))
    assert data.edits is not None
    assert data.edits.cache.sources is not None
    # The first frame alone has the same latents as in its video.
    video = examples[0].picture
    assert isinstance(video, Video)
    first = family.encode([Video(video.frames[:1], video.fps)])
    # In bfloat16 the two are rounded differently.
    assert torch.allclose(first[0], data.edits.cache.sources[0].float(), rtol=0.02, atol=0.05)

    shape = {"latent_channels": 8, "layers": 1, "heads": 2, "head_size": 12, "mlp_ratio": 2}
    transformer = build_video_transformer(text_size=384, **shape, seed=3)
    recorder = Recorder()
    loop = replace(SETTINGS, steps=30, optimizer="muon")
    settings = DiffusionTraining(loop, 4, edit_share=0.5, eval_rows=4)
    work = tmp_path / "wan"
    assert train_network(family, transformer, data, data, settings, work, recorder, "cpu")
    assert recorder.curve("loss")[-1] < recorder.curve("loss")[0]
    assert len(list((work / "samples").glob("*.png"))) == 8
    # Both with a first frame and without one.
    assert recorder.curve("eval_loss_edits")
    assert recorder.curve("eval_loss_pictures")

    told = {"width": 16, "height": 16, "frames": 5, "fps": 8, "trained_objects": 4}
    index = {"film": told, "default_steps": 2, "default_guidance": 2.0}
    export_wan(transformer, autoencoder, tmp_path / "starter", torch.float16, 3.0, index)
    assert json.loads((tmp_path / "starter" / "model_index.json").read_text())["film"] == told
    WanPipeline.from_pretrained(tmp_path / "starter", text_encoder=None, tokenizer=None)
    wan = VideoPipeline.from_folder(tmp_path / "starter", torch.device("cpu"))
    made = wan.generate([VideoRequest("a red apple spins", 1)])[0].media
    assert isinstance(made, Video)
    prompts = held_out_videos(things, TINY, 3, "choosing")
    figures = measure_videos(wan, things, Judge(len(things)), TINY, prompts)
    assert (figures["films"], figures["real_change"], figures["still_change"]) == (3, 1, 0)
    table = video_table(figures).splitlines()
    assert len(table) == 9
    assert table[-3].startswith("| a still picture, which must fail | 0.00 (0.00 to ")
    assert sample_sheet([made, made], 3).size == (48, 32)
