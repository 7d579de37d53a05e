"""Encodes a picture as a file with the metadata of its generation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Literal

from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from ..errors import PlainError

Format = Literal["png", "jpeg", "webp"]

# As one JSON object in ASCII: a JPEG's EXIF block holds 64 KB including its header.
METADATA_BYTES_MAX = 65_000
# PNG keywords have 1 to 79 printable Latin-1 characters.
_KEY_CHARACTERS_MAX = 79
_QUALITY = 92
# The EXIF prefix of a comment, which names its encoding.
_EXIF_ASCII = b"ASCII\0\0\0"


def check_metadata(metadata: Mapping[str, str]) -> None:
    """Raises PlainError for metadata that a file of one of the formats could not hold."""
    for key in metadata:
        if not (1 <= len(key) <= _KEY_CHARACTERS_MAX and key.isascii() and key.isprintable()):
            raise PlainError(
                f"The key {key!r} of metadata is not from 1 to {_KEY_CHARACTERS_MAX} printable "
                "ASCII characters."
            )
    size = len(_as_json(metadata))
    if size > METADATA_BYTES_MAX:
        raise PlainError(f"metadata has {size} bytes: at most {METADATA_BYTES_MAX} fit in a file.")


def encoded(picture: Image.Image, kind: Format, metadata: Mapping[str, str]) -> bytes:
    """Returns the bytes of a file: PNG with a text chunk per key, other formats with one JSON
    object in EXIF's UserComment."""
    file = BytesIO()
    if kind == "png":
        chunks = PngInfo()
        for key, value in metadata.items():
            # Not all programs decode plain chunks as Latin-1.
            (chunks.add_text if value.isascii() else chunks.add_itxt)(key, value)
        picture.save(file, "PNG", pnginfo=chunks)
    else:
        picture.save(file, kind.upper(), quality=_QUALITY, exif=_exif(metadata))
    return file.getvalue()


def _exif(metadata: Mapping[str, str]) -> bytes:
    exif = Image.Exif()
    comment = _EXIF_ASCII + _as_json(metadata)
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.UserComment] = comment
    return exif.tobytes()


def _as_json(metadata: Mapping[str, str]) -> bytes:
    return json.dumps(dict(metadata)).encode("ascii")
