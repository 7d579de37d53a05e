"""Pictures that people send: which are read, and the errors of the others."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.pictures import decode_picture


def file(kind: str, size: tuple[int, int] = (8, 4), mode: str = "RGB", **options: Any) -> bytes:
    content = BytesIO()
    Image.new(mode, size, options.pop("colour", "red")).save(content, kind, **options)
    return content.getvalue()


def bomb(side: int) -> bytes:
    """A PNG of a few bytes that says it has `side` x `side` pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_reads_the_three_kinds(kind: str) -> None:
    assert (decode_picture(file(kind)).mode, decode_picture(file(kind)).size) == ("RGB", (8, 4))


def test_reads_one_that_is_16_times_as_wide_as_high() -> None:
    assert decode_picture(file("PNG", (160, 10))).size == (160, 10)


def test_turns_upright_and_puts_transparency_on_white() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert decode_picture(file("JPEG", exif=exif)).size == (4, 8)
    clear = file("PNG", mode="RGBA", colour=(255, 0, 0, 0))
    assert decode_picture(clear).getpixel((0, 0)) == (255, 255, 255)
    assert decode_picture(file("JPEG", mode="CMYK", colour=(0, 0, 0, 0))).mode == "RGB"


def test_reads_a_cameras_picture_without_the_preview_behind_it() -> None:
    preview = Image.new("RGB", (4, 2), "blue")
    picture = decode_picture(file("MPO", save_all=True, append_images=[preview]))
    assert (picture.size, picture.getpixel((0, 0))) == ((8, 4), (254, 0, 0))


ANIMATED = {"save_all": True, "append_images": [Image.new("RGB", (8, 4), "blue")]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be a PNG, JPEG or WebP file"),
        (b"just text", "must be a PNG, JPEG or WebP file"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "must be a PNG, JPEG or WebP file"),
        (file("GIF"), "must be a PNG, JPEG or WebP file"),
        (file("BMP"), "must be a PNG, JPEG or WebP file"),
        (file("WEBP", **ANIMATED), "is an animation"),
        (file("PNG", **ANIMATED), "is an animation"),
        (file("PNG", (400, 400))[:-40], "is damaged or incomplete"),
        (file("JPEG", (400, 400))[:-400], "is damaged or incomplete"),
        (file("WEBP", (400, 400))[:-40], "must be|damaged or incomplete"),
        (file("PNG", (161, 10)), "is too narrow"),
        (file("PNG", (1, 100_000)), "is too narrow"),
        (bomb(7000), "has 49.0 megapixels"),
        (bomb(50_000), "too many pixels"),
    ],
)
def test_refuses_by_name(content: bytes, message: str) -> None:
    with pytest.raises(PlainError, match=message):
        decode_picture(content)
