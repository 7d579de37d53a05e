"""Tests which uploaded pictures are accepted, and the errors for others."""

from __future__ import annotations

import struct
import time
import tracemalloc
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile, ImageOps, PngImagePlugin

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.pictures import (
    PARTS_MAX,
    PASSES_MAX,
    SIXTEEN_BIT_WHITE,
    decode_picture,
    read_picture,
)


def file(kind: str, size: tuple[int, int] = (8, 4), mode: str = "RGB", **options: Any) -> bytes:
    content = BytesIO()
    Image.new(mode, size, options.pop("colour", "red")).save(content, kind, **options)
    return content.getvalue()


def bomb(side: int) -> bytes:
    """Returns a PNG of a few bytes that claims `side` x `side` pixels."""

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


def in_passes(count: int, behind: bytes = b"") -> bytes:
    """Returns a progressive JPEG that repeats its last scan, each followed by the bytes
    `behind`."""
    jpeg = file("JPEG", progressive=True)
    last = jpeg[jpeg.rindex(SCAN) : -2] + behind
    return jpeg[:-2] + last * (count - jpeg.count(SCAN)) + jpeg[-2:]


SCAN = b"\xff\xda"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_reads_png_jpeg_and_webp(kind: str) -> None:
    assert (decode_picture(file(kind)).mode, decode_picture(file(kind)).size) == ("RGB", (8, 4))


def test_accepts_a_picture_16_times_as_wide_as_high() -> None:
    assert decode_picture(file("PNG", (160, 10))).size == (160, 10)


def test_turns_upright_and_puts_transparency_on_white() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert decode_picture(file("JPEG", exif=exif)).size == (4, 8)
    clear = file("PNG", mode="RGBA", colour=(255, 0, 0, 0))
    assert decode_picture(clear).getpixel((0, 0)) == (255, 255, 255)
    assert decode_picture(file("JPEG", mode="CMYK", colour=(0, 0, 0, 0))).mode == "RGB"


RAW_PROFILE = PngImagePlugin.PngInfo()
RAW_PROFILE.add_text("Raw profile type exif", "\nexif\n4\n4d4d002a\n")


@pytest.mark.parametrize(
    "content",
    [
        *(file("PNG", exif=exif) for exif in (b"M", b"MM\0*", b"not a tiff")),
        file("PNG", pnginfo=RAW_PROFILE),
        *(file("WEBP", exif=exif) for exif in (b"garbage", b"Exif\0\0MM\0*\xff")),
        file("JPEG", exif=b"Exif\0\0garbage!"),
    ],
)
def test_ignores_damaged_exif(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(content)
    assert decode_picture(content).size == (8, 4)
    assert read_picture(tmp_path / "picture").size == (8, 4)


def with_chunk(name: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + data))
    return PNG[:33] + struct.pack(">I", len(data)) + name + data + checksum + PNG[33:]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (b"zTXt", b"Comment\0\0" + zlib.compress(b"a" * 2_000_000)),
        (b"zTXt", b"Comment\0\1unknown"),
        (b"iTXt", b"Comment\0\1\0\0\0" + zlib.compress(b"a" * 2_000_000)),
        (b"iCCP", b"p\0\0" + zlib.compress(b"a" * 2_000_000)),
        (b"iCCP", b"p"),
        (b"gAMA", b"\0"),
        (b"pHYs", b"\0"),
        (b"abCd", b"x"),
    ],
)
def test_ignores_large_and_damaged_extras_of_a_png(
    name: bytes, data: bytes, tmp_path: Path
) -> None:
    content = with_chunk(name, data)
    (tmp_path / "picture").write_bytes(content)
    assert decode_picture(content).size == (8, 4)
    assert read_picture(tmp_path / "picture").size == (8, 4)


def test_turns_a_png_upright_by_imagemagicks_profile() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    profile = exif.tobytes().hex()
    for is_packed in (False, True):
        info = PngImagePlugin.PngInfo()
        text = f"\nexif\n{len(profile) // 2}\n{profile}\n"
        info.add_text("Raw profile type exif", text, zip=is_packed)
        assert decode_picture(file("PNG", pnginfo=info)).size == (4, 8)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_applies_every_exif_orientation(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = Image.linear_gradient("L").crop((0, 0, 8, 4))
    picture.putpixel((0, 0), 255)
    content = BytesIO()
    picture.convert("RGB").save(content, kind, exif=exif)
    with Image.open(content) as opened:
        expected = ImageOps.exif_transpose(opened).convert("RGB")
    assert decode_picture(content.getvalue()).tobytes() == expected.tobytes()


def test_ignores_the_preview_after_a_cameras_picture() -> None:
    preview = Image.new("RGB", (4, 2), "blue")
    picture = decode_picture(file("MPO", save_all=True, append_images=[preview]))
    assert (picture.size, picture.getpixel((0, 0))) == ((8, 4), (254, 0, 0))


@pytest.mark.parametrize(
    "content",
    [
        in_passes(PASSES_MAX + 1),
        # Decoders search for the next marker after an unknown one.
        in_passes(PASSES_MAX + 1, behind=b"\xff\x02\xff\xff"),
    ],
)
def test_rejects_a_jpeg_of_too_many_passes_before_decoding(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpack(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(ImageFile.ImageFile, "load", unpack)
    sentence = "is stored in too many passes. Save it again and send that."
    with pytest.raises(PlainError, match=f"^The picture {sentence}$"):
        decode_picture(content)
    path = tmp_path / "many.jpg"
    path.write_bytes(content)
    with pytest.raises(PlainError, match=f"^many.jpg {sentence}$"):
        read_picture(path)


@pytest.mark.parametrize(
    "content",
    [
        in_passes(PASSES_MAX),
        pytest.param(file("JPEG", comment=SCAN * 200), id="a preview within"),
        pytest.param(file("JPEG") + SCAN * 200, id="many scans"),
    ],
)
def test_accepts_a_jpeg_with_few_passes_of_its_own(content: bytes, tmp_path: Path) -> None:
    assert decode_picture(content).size == (8, 4)
    path = tmp_path / "few.jpg"
    path.write_bytes(content)
    assert read_picture(path).size == (8, 4)


def test_converts_a_large_deep_grey_picture_in_bounded_memory() -> None:
    shades = np.linspace(0, SIXTEEN_BIT_WHITE, 1000 * 1030).reshape(1030, 1000).astype(np.uint16)
    content = BytesIO()
    Image.fromarray(shades).save(content, "PNG")
    tracemalloc.start()
    picture = decode_picture(content.getvalue())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (np.asarray(picture)[..., 0] == np.round(shades / 257)).all()
    # Converting all rows at once would need several arrays of eight bytes per pixel.
    assert peak < 6 * shades.size


JPEG, PNG = file("JPEG"), file("PNG")
EMPTY_SEGMENT = b"\xff\xfe\x00\x02"
EMPTY_CHUNK = b"\0\0\0\0abCd" + struct.pack(">I", zlib.crc32(b"abCd"))
EXIF_SEGMENT = b"\xff\xe1\x03\xe8" + b"Exif\0\0".ljust(998, b"x")


@pytest.mark.parametrize(
    ("content", "at", "piece", "count"),
    [
        (JPEG, 2, EMPTY_SEGMENT, 5_000_000),
        # Pillow expects a length after FF FE but not after FF F0, and continues after FF D9 (end).
        (JPEG, 2, b"\xff\xf0\xff\xff" + EMPTY_SEGMENT * 16_383, 300),
        (JPEG, 2, b"\xff\xd9", 10_000_000),
        (JPEG, 2, b"\xff", 20_000_000),
        (JPEG, len(JPEG) - 2, EMPTY_SEGMENT, 5_000_000),
        (JPEG, 2, EXIF_SEGMENT, 20_000),
        (PNG, 33, EMPTY_CHUNK, 1_700_000),
        (PNG, PNG.index(b"IEND") - 4, EMPTY_CHUNK.replace(b"abCd", b"IDAT"), 1_700_000),
    ],
    ids=["segments", "hidden", "markers", "fill", "in a scan", "exif", "chunks", "data"],
)
def test_rejects_files_of_too_many_pieces_quickly(
    content: bytes, at: int, piece: bytes, count: int
) -> None:
    begun = time.thread_time()
    with pytest.raises(PlainError, match="is stored in too many pieces"):
        decode_picture(content[:at] + piece * count + content[at:])
    # Pillow takes at least four seconds for each of them.
    assert time.thread_time() - begun < 2


def test_accepts_a_picture_of_many_pieces(tmp_path: Path) -> None:
    many = PARTS_MAX - 100
    for content, at, piece in (
        (JPEG, 2, EMPTY_SEGMENT),
        (JPEG, len(JPEG) - 2, EMPTY_SEGMENT),
        (PNG, 33, EMPTY_CHUNK),
    ):
        assert decode_picture(content[:at] + piece * many + content[at:]).size == (8, 4)
    path = tmp_path / "pieces.jpg"
    path.write_bytes(JPEG[:-2] + EMPTY_SEGMENT * (PARTS_MAX + 1) + JPEG[-2:])
    with pytest.raises(PlainError, match=r"^pieces\.jpg is stored in too many pieces"):
        read_picture(path)


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
def test_rejects_pictures_with_a_specific_message(content: bytes, message: str) -> None:
    with pytest.raises(PlainError, match=message):
        decode_picture(content)
