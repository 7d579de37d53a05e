"""Measures the starter Wan: whether a video shows the objects of its caption, and whether they move
as described.

All rows are measured in the same way, including the controls that must fail: a still picture,
shuffled frames, and a good video of another caption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from PIL import Image

from bakehouse_runtime.files import read_object
from bakehouse_runtime.image.video import Video
from bakehouse_runtime.image.wan.pipeline import VideoPipeline, VideoRequest
from bakehouse_runtime.image.wan.size import VIDEO_KEY

from ..evaluation.held_out import LARGEST_SET, SEED, SETS, PromptSet
from ..evaluation.judge import Judge, cells_of
from ..evaluation.shares import share, share_with_interval
from ..scenes.objects import CutOut
from .motion_check import MotionCheck, change, distance
from .scenes import (
    VideoScene,
    VideoShape,
    draw_video_scene,
    render_video,
    video_caption,
    video_objects,
)

if TYPE_CHECKING:
    from ..evaluation.measure import Measured

# In the video settings of `model_index.json`.
TRAINED_OBJECTS = "trained_objects"
MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
MADE_AT_ONCE = 4
# Where in a video the judge looks for the object.
LOOKED_AT = {"first": 0.0, "middle": 0.5, "last": 1.0}


@dataclass(frozen=True)
class VideoPrompt:
    """A held-out caption, the scene that it describes, and the seed of its video."""

    text: str
    scene: VideoScene
    seed: int


def held_out_videos(
    cut_outs: Sequence[CutOut], shape: VideoShape, count: int, which: PromptSet
) -> list[VideoPrompt]:
    """Returns `count` captions of a set, each with a held-out combination."""
    objects = video_objects(cut_outs, shape)
    prompts = []
    for number in range(SETS[which] * LARGEST_SET, SETS[which] * LARGEST_SET + count):
        rng = np.random.default_rng((SEED, 3, number))
        first = objects[number % len(objects)]
        scene = draw_video_scene(rng, cut_outs, objects, first, held_out=True)
        prompts.append(VideoPrompt(video_caption(scene, cut_outs), scene, number))
    return prompts


def measure_wan(
    folder: Path, cut_outs: Sequence[CutOut], judge: Judge, device: torch.device, measured: Measured
) -> dict[str, float]:
    """Returns the figures of the starter's videos in `folder`."""
    video = read_object(folder / "model_index.json")[VIDEO_KEY]
    shape = VideoShape(video["width"], video["frames"], video["fps"], video[TRAINED_OBJECTS])
    prompts = held_out_videos(cut_outs, shape, measured.videos, measured.which)
    wan = VideoPipeline.from_folder(folder, device)
    return measure_videos(wan, cut_outs, judge, shape, prompts)


def measure_videos(
    wan: VideoPipeline,
    cut_outs: Sequence[CutOut],
    judge: Judge,
    shape: VideoShape,
    prompts: Sequence[VideoPrompt],
) -> dict[str, float]:
    """Returns the figures of videos from text and from a first frame, next to real videos of the
    same captions, their reconstructions by the autoencoder (the ceiling), and the controls that
    must fail."""
    real = [render_video(prompt.scene, cut_outs, shape) for prompt in prompts]
    rows = {
        "real": real,
        "reconstructions": wan.family.decode(wan.family.encode(real)),
        "made": _made(wan, [VideoRequest(one.text, one.seed) for one in prompts]),
        "from_picture": _made(
            wan,
            [
                VideoRequest(one.text, one.seed, picture=video.picture(0))
                for one, video in zip(prompts, real, strict=True)
            ],
        ),
    } | controls(real)
    check = MotionCheck(cut_outs, shape)
    figures: dict[str, float] = {"films": len(prompts)}
    for name, videos in rows.items():
        found = figures_of(videos, prompts, judge, check)
        found["change"] = float(np.mean([change(video) for video in videos]) / _change_of(real))
        figures |= {f"{name}_{key}": value for key, value in found.items()}
    return figures


def controls(real: Sequence[Video]) -> dict[str, list[Video]]:
    """Returns the controls that no measurement may accept: derived from real videos, so that only
    the motion is wrong."""
    rng = np.random.default_rng(SEED)
    return {
        "still": [
            Video(np.repeat(video.frames[:1], len(video.frames), axis=0), video.fps)
            for video in real
        ],
        "shuffled": [
            Video(video.frames[rng.permutation(len(video.frames))], video.fps) for video in real
        ],
        # Neighbours have other objects, and mostly other motions.
        "other_caption": [*real[1:], real[0]],
    }


def figures_of(
    videos: Sequence[Video], prompts: Sequence[VideoPrompt], judge: Judge, check: MotionCheck
) -> dict[str, float]:
    """Returns the figures of videos and their prompts."""
    wanted = torch.tensor([prompt.scene.things[0].cut_out for prompt in prompts])
    figures = {}
    named = torch.ones(len(videos), dtype=torch.bool)
    for place, share_of_video in LOOKED_AT.items():
        pictures = [
            video.picture(round(share_of_video * (len(video.frames) - 1))) for video in videos
        ]
        is_named = named_objects(judge, pictures) == wanted
        figures[f"named_{place}"] = float(is_named.float().mean())
        named &= is_named
    figures["named_throughout"] = float(named.float().mean())
    right = [
        check.motion_of(video) == prompt.scene.motion
        for video, prompt in zip(videos, prompts, strict=True)
    ]
    figures |= share_with_interval("motion_right", right)
    speeds = [
        _along(video, prompt.scene) / prompt.scene.far
        for video, prompt in zip(videos, prompts, strict=True)
        if prompt.scene.motion in MOVES
    ]
    if speeds:
        figures["direction_right"] = share(speed > 0.25 for speed in speeds)
        figures["speed"] = float(np.median(speeds))
    return figures


@torch.no_grad()
def named_objects(judge: Judge, pictures: Sequence[Image.Image]) -> torch.Tensor:
    """Returns the likeliest object of each picture according to the judge."""
    return judge.name_objects(cells_of(judge, pictures)).argmax(dim=1)


def _along(video: Video, scene: VideoScene) -> float:
    """Returns how far the object moves in the direction of its caption."""
    across, down = distance(video)
    right, below = MOVES[scene.motion]
    return across * right + down * below


def _change_of(videos: Sequence[Video]) -> float:
    return float(np.mean([change(video) for video in videos]))


def _made(wan: VideoPipeline, requests: Sequence[VideoRequest]) -> list[Video]:
    videos: list[Video] = []
    for start in range(0, len(requests), MADE_AT_ONCE):
        for generated in wan.generate(requests[start : start + MADE_AT_ONCE]):
            assert isinstance(generated.media, Video)
            videos.append(generated.media)
    return videos


def sample_sheet(videos: Sequence[Video], frames: int) -> Image.Image:
    """Returns a sheet with each video as a row of some of its frames."""
    width, height = videos[0].width, videos[0].height
    sheet = Image.new("RGB", (frames * width, len(videos) * height), "white")
    for row, video in enumerate(videos):
        for column, number in enumerate(np.linspace(0, len(video.frames) - 1, frames).round()):
            sheet.paste(video.picture(int(number)), (column * width, row * height))
    return sheet
