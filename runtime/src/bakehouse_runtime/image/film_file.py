"""A film as a file that every browser plays, and that says inside how it was made."""

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

from .film import Film, reduced, strip

# Of x264, from 0 (no loss) to 51.
_QUALITY = "18"
POSTER_SIDE_MAX = 512
STRIP_FRAMES = 8
STRIP_SIDE_MAX = 160
_PICTURE_QUALITY = 85


def encoded_film(film: Film, metadata: Mapping[str, str]) -> bytes:
    """An MP4 in H.264, which can be played before all of it has arrived; the metadata are one JSON
    object in its comment."""
    # What moves the index to the front reads the file again, by its name.
    with TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        _write(path, film, json.dumps(dict(metadata)))
        return path.read_bytes()


def _write(path: Path, film: Film, comment: str) -> None:
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        container.metadata["comment"] = comment
        stream = container.add_stream("libx264", rate=Fraction(film.fps).limit_denominator(1001))
        # Of one colour for 2 x 2 pixels, so that sides are even.
        stream.width, stream.height = film.width // 2 * 2, film.height // 2 * 2
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": _QUALITY, "preset": "medium"}
        for pixels in film.frames:
            cut = np.ascontiguousarray(pixels[: stream.height, : stream.width])
            for packet in stream.encode(av.VideoFrame.from_ndarray(cut, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def poster(film: Film) -> Image.Image:
    """The first frame."""
    return reduced(film.picture(0), POSTER_SIDE_MAX)


def film_strip(film: Film) -> Image.Image:
    """Some frames evenly over the film, first and last among them, in one row."""
    return strip(film, STRIP_FRAMES, STRIP_SIDE_MAX)


def encoded_webp(picture: Image.Image) -> bytes:
    """The bytes of a WebP file."""
    file = BytesIO()
    picture.save(file, "WEBP", quality=_PICTURE_QUALITY)
    return file.getvalue()
