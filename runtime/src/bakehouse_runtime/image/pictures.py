"""Reads, crops and converts pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from ..errors import PlainError, RequestError

SIXTEEN_BIT_WHITE = 65535
# The formats of a dataset's pictures; Pillow reads many more.
PICTURE_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF")
# The formats of uploaded pictures to edit.
SENT_FORMATS = ("PNG", "JPEG", "WEBP")
# A small file may unpack to any size.
PIXELS_MAX = 40_000_000
# Longer side over shorter side: a full-size model keeps its area in the picture's ratio.
RATIO_MAX = 16
# Scans of a progressive JPEG; programs write about ten. Each takes a few bytes and costs a pass of
# milliseconds over all pixels.
PASSES_MAX = 100
# Pieces of a file; programs write some thousands. Pillow reads all of them when it opens a file and
# blocks all other threads: eighteen seconds for millions of pieces.
PARTS_MAX = 50_000
# Per piece: its length, name, content and checksum.
_READS_MAX = 4 * PARTS_MAX
# Pillow copies all previous blocks for each further block.
_EXIF_BLOCKS_MAX = 50
_BAND_ROWS = 64
USUAL_WHITES = (1, 255, SIXTEEN_BIT_WHITE)
JPEG_FORMATS = ("JPEG", "MPO")
# Other markers have no length, even between the bytes of a scan.
_JPEG_SEGMENT = re.compile(rb"\xff[\xc0-\xcf\xd8-\xfe]")
_JPEG_BEGINNING = b"\xff\xd8"
_JPEG_SCAN = b"\xff\xda"
_JPEG_END = b"\xff\xd9"
_EXIF_BLOCK = b"Exif\0\0"
_PNG_BEGINNING = b"\x89PNG\r\n\x1a\n"
# Optional chunks that change how a PNG is shown: transparency, animation, orientation.
_PNG_SHOWN = (b"tRNS", b"acTL", b"fcTL", b"fdAT", b"eXIf")
# Where ImageMagick stores the orientation.
_PNG_EXIF_TEXTS = (b"tEXtRaw profile type exif\0", b"zTXtRaw profile type exif\0")

# The transposition for each EXIF orientation. ImageOps.exif_transpose does the same, but fails on
# damaged EXIF.
_TURNS: dict[object, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class _SentFile(BytesIO):
    """An uploaded file that limits the number of reads to what programs' files need."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        if self.reads > _READS_MAX:
            raise _too_many_parts("The picture")
        return super().read(size)


def read_picture(path: Path) -> Image.Image:
    """Reads a picture file as RGB, turned upright; transparency becomes white."""
    try:
        with Image.open(_without_extras(path), formats=PICTURE_FORMATS) as opened:
            _assert_size(opened, path.name)
            if opened.format in JPEG_FORMATS:
                _assert_few_passes(path.read_bytes(), path.name)
            return _upright_rgb(opened)
    except FileNotFoundError as error:
        raise PlainError(f"The picture {path.name} is missing.") from error
    except PlainError:
        raise
    # Pillow's decoders raise arbitrary errors, such as SyntaxError for a broken PNG.
    except Exception as error:
        raise PlainError(f"{path.name} is not a picture that can be read.") from error


def decode_picture(content: bytes) -> Image.Image:
    """Decodes an uploaded picture as `read_picture`, but rejects animations."""
    return _decoded(content, _upright_rgb)


def decode_mask(content: bytes) -> Image.Image:
    """Decodes an uploaded mask, whose transparent area marks the change. Returns how much of each
    pixel changes (mode L, 255 is all)."""
    try:
        return _decoded(content, lambda mask: ImageOps.invert(mask.convert("RGBA").getchannel("A")))
    except PlainError as error:
        raise RequestError("mask", str(error).replace("The picture", "The mask")) from error


def _decoded(content: bytes, convert: Callable[[Image.Image], Image.Image]) -> Image.Image:
    try:
        if content.count(_EXIF_BLOCK) > _EXIF_BLOCKS_MAX:
            raise _too_many_parts("The picture")
        sent = _SentFile(_essential_png(content, "The picture"))
        with Image.open(sent, formats=SENT_FORMATS) as opened:
            _assert_size(opened, "The picture")
            if max(opened.size) > RATIO_MAX * min(opened.size):
                raise PlainError(
                    f"The picture is too narrow: one side is more than {RATIO_MAX} times as long "
                    "as the other."
                )
            if opened.format in JPEG_FORMATS:
                _assert_few_passes(content, "The picture")
            # Pillow's name for a JPEG followed by a large preview, as cameras write.
            if opened.format != "MPO" and getattr(opened, "is_animated", False):
                raise PlainError("The picture is an animation. Send a single picture.")
            return convert(opened)
    except PlainError:
        raise
    except Image.DecompressionBombError as error:
        raise PlainError("The picture has too many pixels to be unpacked.") from error
    except UnidentifiedImageError as error:
        raise PlainError("The picture must be a PNG, JPEG or WebP file.") from error
    except Exception as error:
        raise PlainError("The picture is damaged or incomplete.") from error


def _without_extras(path: Path) -> Path | BytesIO:
    with path.open("rb") as file:
        if file.read(len(_PNG_BEGINNING)) != _PNG_BEGINNING:
            return path
    return BytesIO(_essential_png(path.read_bytes(), path.name))


def _essential_png(content: bytes, name: str) -> bytes:
    """Removes text, colour profiles and other chunks from a PNG that `_upright_rgb` does not use.

    Pillow rejects the whole picture if one of them is damaged or unpacks to more than 1 MB.
    """
    if not content.startswith(_PNG_BEGINNING):
        return content
    kept, position = [_PNG_BEGINNING], len(_PNG_BEGINNING)
    for _ in range(PARTS_MAX):
        end = position + 12 + int.from_bytes(content[position : position + 4], "big")
        chunk = content[position + 4 : position + 8]
        # Names of critical chunks begin with a capital.
        is_needed = chunk[:1].isupper() or chunk in _PNG_SHOWN
        if is_needed or content.startswith(_PNG_EXIF_TEXTS, position + 4):
            kept.append(content[position:end])
        if end >= len(content):
            return b"".join(kept)
        position = end
    raise _too_many_parts(name)


def _upright_rgb(opened: Image.Image) -> Image.Image:
    opened.load()
    turn = _TURNS.get(_orientation(opened))
    upright = opened if turn is None else opened.transpose(turn)
    if upright.mode in ("I", "F") or upright.mode.startswith("I;16"):
        upright = _eight_bits(upright)
    if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
        layer = upright.convert("RGBA")
        picture = Image.new("RGB", layer.size, "white")
        picture.paste(layer, mask=layer)
        return picture
    return upright.convert("RGB")


def _orientation(opened: Image.Image) -> object:
    """Returns the EXIF orientation of a loaded picture, or None if it is missing or damaged."""
    try:
        return opened.getexif().get(ExifTags.Base.Orientation)
    # Pillow raises many kinds of errors, including SyntaxError and struct.error.
    except Exception:
        return None


def _assert_size(opened: Image.Image, name: str) -> None:
    """Runs before anything is unpacked; only the size has been read."""
    pixels = opened.width * opened.height
    if pixels > PIXELS_MAX:
        raise PlainError(
            f"{name} has {pixels / 1e6:.1f} megapixels. Scale it down to {PIXELS_MAX // 1_000_000} "
            "at most."
        )


def _assert_few_passes(jpeg: bytes, name: str) -> None:
    """Runs before anything is unpacked. Skips the content of segments, and everything after the end
    marker: a preview has scans too, and a phone's motion photo contains arbitrary bytes."""
    passes, parts, position = 0, 0, len(_JPEG_BEGINNING)
    while marker := _JPEG_SEGMENT.search(jpeg, position):
        position = marker.end()
        if marker.group() == _JPEG_END:
            return
        parts += 1
        if parts > PARTS_MAX:
            raise _too_many_parts(name)
        passes += marker.group() == _JPEG_SCAN
        if passes > PASSES_MAX:
            raise PlainError(f"{name} is stored in too many passes. Save it again and send that.")
        # The length includes its own two bytes.
        position += max(2, int.from_bytes(jpeg[position : position + 2], "big"))


def _too_many_parts(name: str) -> PlainError:
    return PlainError(f"{name} is stored in too many pieces. Save it again and send that.")


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Converts a grey picture of 16 or 32 bits to 256 shades; Pillow would clip it at 255.

    32-bit values do not define white: use the lowest usual white that no value exceeds.
    """
    white: float = SIXTEEN_BIT_WHITE
    if picture.mode in ("I", "F"):
        brightest = max(float(band.max()) for band in _bands(picture))
        white = next((usual for usual in USUAL_WHITES if brightest <= usual), brightest)
    shades = [
        (band.clip(0, white) * (255 / white)).round().astype(np.uint8) for band in _bands(picture)
    ]
    return Image.fromarray(np.concatenate(shades))


def _bands(picture: Image.Image) -> Iterator[np.ndarray]:
    """Yields the values of a grey picture in bands: forty megapixels would take 320 MB, and the
    same again for each intermediate result."""
    for top in range(0, picture.height, _BAND_ROWS):
        rows = (0, top, picture.width, min(top + _BAND_ROWS, picture.height))
        yield np.nan_to_num(np.asarray(picture.crop(rows), dtype=np.float64))


def fit_square(picture: Image.Image, side: int) -> Image.Image:
    """Scales and crops the picture around its centre to `side` x `side`."""
    return ImageOps.fit(picture, (side, side), Image.Resampling.LANCZOS)


def to_array(pictures: Sequence[Image.Image]) -> np.ndarray:
    """Converts pictures of one size to float32 [count, 3, height, width] in -1..1."""
    stacked = np.stack([np.asarray(picture) for picture in pictures])
    return stacked.transpose(0, 3, 1, 2).astype(np.float32) / 127.5 - 1


def to_pictures(values: np.ndarray) -> list[Image.Image]:
    """The inverse of `to_array`; clips values outside -1..1.

    Raises PlainError for values that are not finite, which would become black.
    """
    if not np.isfinite(values).all():
        raise PlainError(
            "The model computed a picture with values that are not numbers: its weights are "
            "damaged or too large for the precision they are computed in."
        )
    scaled = ((np.clip(values, -1, 1) + 1) * 127.5).round().astype(np.uint8)
    return [Image.fromarray(picture) for picture in scaled.transpose(0, 2, 3, 1)]


def grid(pictures: Sequence[Image.Image], columns: int) -> Image.Image:
    """Returns one sheet with all pictures in rows of `columns`, without gaps."""
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * width, rows * height), "white")
    for index, picture in enumerate(pictures):
        sheet.paste(picture, (index % columns * width, index // columns * height))
    return sheet
