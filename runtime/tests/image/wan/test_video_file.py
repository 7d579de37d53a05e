"""Tests videos as files."""

from __future__ import annotations

import json
from io import BytesIO

import av
import numpy as np
import pytest
import torch

from bakehouse_runtime.image.video import Video, strip, to_values, to_videos
from bakehouse_runtime.image.video_file import encode_video, poster, video_strip

from ..conftest import one_sentence


def moving(frames: int = 17, width: int = 96, height: int = 64, fps: float = 8) -> Video:
    """Returns a red square that moves from left to right on blue."""
    pixels = np.zeros((frames, height, width, 3), np.uint8)
    pixels[..., 2] = 200
    for number in range(frames):
        left = number * (width - 16) // frames
        pixels[number, 20:36, left : left + 16] = (220, 20, 20)
    return Video(pixels, fps)


def test_a_video_file_plays_the_frames() -> None:
    video = moving()
    content = encode_video(video, {"prompt": "a réd square", "seed": "7"})
    with av.open(BytesIO(content), "r") as opened:
        stream = opened.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.average_rate) == (96, 64, 8)
        assert stream.duration is not None
        assert stream.time_base is not None
        assert float(stream.duration * stream.time_base) == pytest.approx(video.duration_s)
        told = json.loads(opened.metadata["comment"])
        read = np.stack([one.to_ndarray(format="rgb24") for one in opened.decode(stream)])
    assert told == {"prompt": "a réd square", "seed": "7"}
    assert read.shape == video.frames.shape
    # The file stores colours only for every other pixel.
    assert np.abs(read.astype(int) - video.frames.astype(int)).mean() < 5


def test_a_video_file_can_be_streamed() -> None:
    content = encode_video(moving(), {})
    assert 0 < content.find(b"moov") < content.find(b"mdat")


def test_cuts_odd_sides_to_even_ones() -> None:
    with av.open(BytesIO(encode_video(moving(3, 33, 41), {})), "r") as opened:
        stream = opened.streams.video[0]
        assert (stream.width, stream.height) == (32, 40)


def test_poster_is_the_first_frame_and_strip_shows_several() -> None:
    video = moving(width=1024, height=512)
    assert poster(video).size == (512, 256)
    assert video_strip(video).size == (8 * 160, 80)
    small = strip(moving(), 3, 96)
    assert small.size == (3 * 96, 64)
    for place, number in enumerate((0, 8, 16)):
        part = small.crop((place * 96, 0, (place + 1) * 96, 64))
        assert np.array_equal(np.asarray(part), moving().frames[number])
    assert strip(moving(frames=2), 8, 160).size == (2 * 96, 64)


def test_converts_frames_to_values_and_back() -> None:
    video = moving()
    values = to_values([video, video])
    assert values.shape == (2, 3, 17, 64, 96)
    assert (float(values.min()), float(values[0, 2].max())) == (-1, pytest.approx(200 / 127.5 - 1))
    again = to_videos(values, 8)
    assert np.array_equal(again[1].frames, video.frames)
    with one_sentence("values that are not numbers"):
        to_videos(torch.full_like(values, torch.nan), 8)
