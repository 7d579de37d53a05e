from __future__ import annotations

import json
from io import BytesIO

import pytest
from PIL import ExifTags, Image

from bakehouse_runtime.image.picture_file import METADATA_BYTES_MAX, check_metadata, encoded

from .conftest import one_sentence

METADATA = {"prompt": "Bäcker, 日本, «so»\nund so weiter", "seed": "4294967295"}


def opened(content: bytes) -> Image.Image:
    picture = Image.open(BytesIO(content))
    picture.load()
    return picture


def test_png_stores_metadata_in_text_chunks() -> None:
    picture = opened(encoded(Image.new("RGB", (8, 4), "red"), "png", METADATA))
    assert (picture.format, picture.size) == ("PNG", (8, 4))
    assert picture.getpixel((0, 0)) == (255, 0, 0)
    assert picture.info == METADATA


@pytest.mark.parametrize("kind", ["jpeg", "webp"])
def test_other_formats_store_metadata_in_exif(kind: str) -> None:
    picture = opened(encoded(Image.new("RGB", (8, 4), "red"), kind, METADATA))  # pyright: ignore[reportArgumentType]
    assert (picture.format, picture.size) == (kind.upper(), (8, 4))
    comment = picture.getexif().get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.UserComment]
    assert comment[:8] == b"ASCII\0\0\0"
    assert json.loads(comment[8:]) == METADATA


def told(content: bytes) -> dict[str, str]:
    """Returns the metadata of a file of any format."""
    picture = opened(content)
    if picture.format == "PNG":
        return {str(key): str(value) for key, value in picture.info.items()}
    comment = picture.getexif().get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.UserComment]
    return json.loads(comment.removeprefix(b"ASCII\0\0\0"))


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
@pytest.mark.parametrize("prompt", ["麺" * 4000, "🍞" * 2000, "\n" * 4000, "a" * 60_000])
def test_stores_the_longest_prompt_completely(kind: str, prompt: str) -> None:
    metadata = METADATA | {"prompt": prompt}
    check_metadata(metadata)
    assert told(encoded(Image.new("RGB", (8, 4)), kind, metadata)) == metadata  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_stores_the_largest_allowed_metadata(kind: str) -> None:
    metadata = {"a": "x" * (METADATA_BYTES_MAX - len('{"a": ""}'))}
    check_metadata(metadata)
    assert told(encoded(Image.new("RGB", (8, 4)), kind, metadata)) == metadata  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("key", ["", "a" * 80, "a\0b", "größe"])
def test_rejects_invalid_keys(key: str) -> None:
    with one_sentence("of metadata is not from 1 to 79 printable ASCII characters."):
        check_metadata({key: "x"})


def test_rejects_too_large_metadata() -> None:
    with one_sentence(f"metadata has {METADATA_BYTES_MAX + 1} bytes: at most"):
        check_metadata({"a": "x" * (METADATA_BYTES_MAX + 1 - len('{"a": ""}'))})
