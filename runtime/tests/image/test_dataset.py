"""A person's pictures and captions, as they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.pictures import read_picture
from bakehouse_runtime.image.training.dataset import (
    CUTS,
    CaptionedPicture,
    PictureExamples,
    hold_out_pictures,
    read_captioned_pictures,
)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("{", "Line 1 of metadata.jsonl is not JSON."),
        ("\n[1]", "Line 2 of metadata.jsonl is not an object."),
        ('{"file_name": "plain-red.png"}', "Line 1 of metadata.jsonl has no text."),
        ('{"text": "a field"}', "Line 1 of metadata.jsonl has no file_name."),
        (
            '{"file_name": "../x.png", "text": "a"}',
            "names ../x.png, which is outside of the dataset",
        ),
        (
            '{"file_name": "plain-red.png", "text": "a"}\n'
            '{"file_name": "plain-red.png", "text": "a", "source": "plain-blue.png"}',
            "Some lines of metadata.jsonl have a source and some have none.",
        ),
        ("", "The dataset has no captioned picture"),
    ],
)
def test_metadata_that_cannot_be_used_is_named(dataset: Path, lines: str, message: str) -> None:
    (dataset / "metadata.jsonl").write_text(lines)
    with pytest.raises(PlainError) as raised:
        read_captioned_pictures(dataset, "metadata.jsonl")
    assert message in str(raised.value)


def test_pictures_with_text_files_need_no_metadata(dataset: Path) -> None:
    with pytest.raises(PlainError, match="no captioned picture"):
        read_captioned_pictures(dataset, None)
    (dataset / "wide-red.txt").write_text("a red field\n")
    (found,) = read_captioned_pictures(dataset, None)
    assert (found.path.name, found.text, found.source) == ("wide-red.png", "a red field", None)
    (dataset / "wide-red.txt").write_bytes("a café".encode("latin-1"))
    with pytest.raises(PlainError, match=r"The caption wide-red\.txt cannot be read as UTF-8"):
        read_captioned_pictures(dataset, None)


def test_no_picture_is_both_trained_and_measured_on() -> None:
    pictures = [
        CaptionedPicture(Path(f"{number}.png"), caption, "line")
        for number in range(20)
        for caption in ("a field", "a wide field")
    ]
    examples = PictureExamples(pictures, 32, seed=1)
    rows, held_out = hold_out_pictures(examples.picture_of_row())
    assert sorted([*rows, *held_out]) == list(range(len(examples)))
    trained, measured = (
        {pictures[row // CUTS].path.stem for row in part} for part in (rows, held_out)
    )
    assert measured == {"0", "10"}
    assert not trained & measured
    few, same = hold_out_pictures(PictureExamples(pictures[:18], 32, seed=1).picture_of_row())
    assert len(few) == len(same) == 18 * CUTS
    edits = [
        CaptionedPicture(Path("after.png"), "make it black", "line", Path(f"{number}.png"))
        for number in range(20)
    ]
    _, held_out = hold_out_pictures(PictureExamples(edits, 32, seed=1).picture_of_row())
    assert set(held_out // CUTS) == {0, 10}


def test_a_file_that_is_no_picture_is_named(dataset: Path) -> None:
    (dataset / "plain-red.png").write_bytes(b"no picture")
    pictures = read_captioned_pictures(dataset, "metadata.jsonl")
    with pytest.raises(PlainError, match=r"plain-red\.png is not a picture that can be read\."):
        PictureExamples(pictures, 32, seed=1)[0]
    # Pillow meets the length of -1 in the middle of the pixels with a SyntaxError.
    field = Image.fromarray(np.random.default_rng(1).integers(0, 255, (300, 300, 3), np.uint8))
    field.save(dataset / "plain-red.png")
    content = bytearray((dataset / "plain-red.png").read_bytes())
    second = content.index(b"IDAT", content.index(b"IDAT") + 4)
    content[second : second + 4] = b"\x00\x01\x02\x03"
    (dataset / "plain-red.png").write_bytes(content)
    with pytest.raises(PlainError, match=r"plain-red\.png is not a picture that can be read\."):
        PictureExamples(pictures, 32, seed=1)[0]
    (dataset / "plain-red.png").unlink()
    with pytest.raises(PlainError, match=r"The picture plain-red\.png is missing\."):
        PictureExamples(pictures, 32, seed=1)[0]


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "flat.png"
    Image.new("1", (8000, 5001)).save(path)
    with pytest.raises(PlainError, match=r"flat\.png has 40\.0 megapixels\. Scale it"):
        read_picture(path)
    Image.new("1", (800, 500)).save(path)
    assert read_picture(path).size == (800, 500)


def test_what_only_other_readers_of_pillow_know_is_no_picture(tmp_path: Path) -> None:
    Image.new("RGB", (2, 2)).save(tmp_path / "other.ppm")
    (tmp_path / "other.ppm").rename(tmp_path / "other.png")
    with pytest.raises(PlainError, match=r"other\.png is not a picture that can be read\."):
        read_picture(tmp_path / "other.png")


def test_metadata_outside_of_the_dataset_is_not_read(dataset: Path) -> None:
    (dataset.parent / "metadata.jsonl").write_text('{"file_name": "x.png", "text": "a"}')
    with pytest.raises(PlainError, match="leads out of its folder"):
        read_captioned_pictures(dataset, "../metadata.jsonl")


@pytest.mark.parametrize(
    ("values", "shades"),
    [
        (np.array([[0, 25700, 65535]], np.uint16), [0, 100, 255]),
        (np.array([[0, 25700, 65535]], np.int32), [0, 100, 255]),
        (np.array([[0, 100, 255]], np.int32), [0, 100, 255]),
        (np.array([[-0.5, 0.4, 1.0]], np.float32), [0, 102, 255]),
        (np.array([[0, 50000, 100000]], np.float32), [0, 128, 255]),
    ],
)
def test_grey_pictures_of_wide_numbers_keep_their_shades(
    tmp_path: Path, values: np.ndarray, shades: list[int]
) -> None:
    Image.fromarray(values).save(tmp_path / "wide.tiff")
    picture = np.asarray(read_picture(tmp_path / "wide.tiff"))
    assert picture[0].tolist() == [[shade] * 3 for shade in shades]


def test_a_picture_of_sixteen_bits_in_a_png(tmp_path: Path) -> None:
    Image.fromarray(np.full((2, 2), 25700, np.uint16)).save(tmp_path / "wide.png")
    assert read_picture(tmp_path / "wide.png").getpixel((0, 0)) == (100, 100, 100)
