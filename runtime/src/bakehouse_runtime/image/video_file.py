"""Encodes a video as a file that every browser plays, with the metadata of its generation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
from PIL import Image

from .video import Video, reduced, strip

# CRF of x264, from 0 (lossless) to 51.
_QUALITY = "18"
POSTER_SIDE_MAX = 512
STRIP_FRAMES = 8
STRIP_SIDE_MAX = 160
_PICTURE_QUALITY = 85


def encode_video(video: Video, metadata: Mapping[str, str]) -> bytes:
    """Returns an MP4 in H.264 that can be streamed; the metadata are one JSON object in its
    comment."""
    # Faststart reopens the file by its name.
    with TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        _write(path, video, json.dumps(dict(metadata)))
        return path.read_bytes()


def _write(path: Path, video: Video, comment: str) -> None:
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        container.metadata["comment"] = comment
        stream = container.add_stream("libx264", rate=Fraction(video.fps).limit_denominator(1001))
        # yuv420p has one colour per 2 x 2 pixels, so sides must be even.
        stream.width, stream.height = video.width // 2 * 2, video.height // 2 * 2
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": _QUALITY, "preset": "medium"}
        for pixels in video.frames:
            cut = np.ascontiguousarray(pixels[: stream.height, : stream.width])
            for packet in stream.encode(av.VideoFrame.from_ndarray(cut, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def poster(video: Video) -> Image.Image:
    """Returns the first frame."""
    return reduced(video.picture(0), POSTER_SIDE_MAX)


def video_strip(video: Video) -> Image.Image:
    """Returns evenly spaced frames in one row, including the first and the last."""
    return strip(video, STRIP_FRAMES, STRIP_SIDE_MAX)


def encoded_webp(picture: Image.Image) -> bytes:
    """Returns the bytes of a WebP file."""
    file = BytesIO()
    picture.save(file, "WEBP", quality=_PICTURE_QUALITY)
    return file.getvalue()
