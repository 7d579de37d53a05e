"""Tests reading a user's pictures and captions."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.pictures import read_picture
from bakehouse_runtime.image.training.captioned import (
    CaptionedPicture,
    Captions,
    FileNote,
    PictureSet,
    read_picture_set,
)
from bakehouse_runtime.image.training.dataset import (
    CUTS,
    PictureExamples,
    by_size,
    held_out_pictures,
    rows_of,
)
from bakehouse_runtime.image.training.sizes import training_sizes

READS_ALL = Captions(None, 512, len)


def read(
    dataset: Path, metadata: str | None = "metadata.jsonl", captions: Captions = READS_ALL
) -> PictureSet:
    return read_picture_set(dataset, metadata, captions, usual_side=30)


def messages(notes: list[FileNote]) -> list[str]:
    return [note.message for note in notes]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Line 1 of metadata.jsonl is not JSON."),
        ("[1]", "Line 1 of metadata.jsonl is not an object."),
        (
            '{"file_name": "plain-red.png"}',
            "Line 1 of metadata.jsonl has no text for plain-red.png: write one, or choose a "
            "trigger word.",
        ),
        ('{"text": "a field"}', "Line 1 of metadata.jsonl has no file_name."),
        (
            '{"file_name": "../x.png", "text": "a"}',
            "metadata.jsonl names ../x.png, which is outside of the dataset.",
        ),
        ('{"file_name": "none.png", "text": "a"}', "The picture none.png is missing."),
    ],
)
def test_skips_an_unusable_line_by_name(dataset: Path, line: str, message: str) -> None:
    good = '{"file_name": "plain-blue.png", "text": "a field"}'
    (dataset / "metadata.jsonl").write_text(f"{line}\n\n{good}")
    found = read(dataset)
    assert messages(found.left_out) == [message]
    assert [picture.path.name for picture in found.kept] == ["plain-blue.png"]


def test_rejects_a_mix_of_edits_and_pictures(dataset: Path) -> None:
    (dataset / "metadata.jsonl").write_text(
        '{"file_name": "plain-red.png", "text": "a"}\n'
        '{"file_name": "plain-red.png", "text": "b", "source": "plain-blue.png"}'
    )
    with pytest.raises(PlainError, match=r"Some lines of metadata\.jsonl have a source and some"):
        read(dataset)
    (dataset / "metadata.jsonl").write_text("")
    with pytest.raises(PlainError, match="The dataset has no pictures"):
        read(dataset)


def test_reads_captions_from_text_files_of_the_same_name(dataset: Path) -> None:
    (dataset / "wide-red.txt").write_text("a red\n field\n")
    (dataset / "wide-blue.txt").write_bytes("a café".encode("latin-1"))
    found = read(dataset, None)
    [kept] = found.kept
    assert (kept.path.name, kept.text, kept.source) == ("wide-red.png", "a red field", None)
    assert (kept.width, kept.height) == (80, 40)
    assert "The caption wide-blue.txt cannot be read as UTF-8 text." in messages(found.left_out)
    missing = "plain-red.png has no caption: put it into plain-red.txt, or choose a trigger word."
    assert missing in messages(found.left_out)
    worded = read(dataset, None, Captions("zwk", 512, len))
    assert len(worded.kept) == 7
    texts = {picture.path.name: picture.text for picture in worded.kept}
    assert (texts["wide-red.png"], texts["plain-red.png"]) == ("zwk, a red field", "zwk")


def test_adds_the_trigger_word_once_and_truncates_to_the_window() -> None:
    captions = Captions("zwk", 3, lambda text: len(text.split()))
    assert captions.with_trigger("a ZWK field") == "a ZWK field"
    assert captions.fitted("one two three") == "one two three"
    assert captions.fitted("one two three four five") == "one two three"


def test_skips_unusable_files_by_name(dataset: Path) -> None:
    for name in ("plain-red", "plain-green", "plain-blue", "plain-orange", "copy"):
        (dataset / f"{name}.txt").write_text("a field")
    shutil.copy(dataset / "plain-green.png", dataset / "copy.png")
    (dataset / "plain-red.png").write_bytes(b"no picture")
    content = (dataset / "plain-blue.png").read_bytes()
    (dataset / "plain-blue.png").write_bytes(content[: len(content) // 2])
    Image.new("RGB", (31, 90)).save(dataset / "plain-orange.png")
    (dataset / "video.mp4").write_bytes(b"...")
    for path in dataset.glob("wide-*"):
        path.unlink()
    found = read(dataset, None)
    assert messages(found.left_out) == [
        "plain-blue.png is not a picture that can be read.",
        "plain-green.png is the same picture as copy.png.",
        "plain-orange.png is 31 x 90 pixels; at least 32 x 32 are needed.",
        "plain-red.png is not a picture that can be read.",
        "video.mp4 is no PNG, JPEG, WebP, BMP, GIF or TIFF file.",
    ]
    assert [picture.path.name for picture in found.kept] == ["copy.png"]


def test_separates_training_and_held_out_pictures() -> None:
    pictures = [
        CaptionedPicture(Path(f"{number}.png"), caption, "line", None, 40, 40)
        for number in range(20)
        for caption in ("a field", "a wide field")
    ]
    held_out = held_out_pictures(pictures)
    assert {pictures[number].path.stem for number in held_out} == {"0", "10"}
    assert held_out_pictures(pictures[:18]) == frozenset()
    rows = rows_of(range(40), held_out, CUTS)
    assert {pictures[row // CUTS].path.stem for row in rows} == {"0", "10"}
    edits = [
        CaptionedPicture(Path("after.png"), "make it black", "line", Path(f"{number}.png"))
        for number in range(20)
    ]
    assert held_out_pictures(edits) == {0, 10}


def test_trains_a_large_model_in_the_ratios_of_its_pictures(dataset: Path) -> None:
    sizes = training_sizes(1024, 512)
    assert (512, 512) in sizes
    assert all(width % 16 == height % 16 == 0 for width, height in sizes)
    assert all(abs(width * height / 512**2 - 1) < 0.05 for width, height in sizes)
    assert training_sizes(128, None) == [(128, 128)]
    found = by_size(read(dataset).kept, sizes)
    assert found == {(512, 512): [0, 2, 4, 6], (720, 368): [1, 3, 5, 7]}
    pictures = read(dataset).kept
    [wide] = PictureExamples([pictures[1]], (720, 368), seed=1, cuts=1, places=[1])
    assert wide.picture.size == (720, 368)


def test_rejects_a_picture_of_too_many_pixels_before_unpacking(tmp_path: Path) -> None:
    path = tmp_path / "flat.png"
    Image.new("1", (8000, 5001)).save(path)
    with pytest.raises(PlainError, match=r"flat\.png has 40\.0 megapixels\. Scale it"):
        read_picture(path)
    Image.new("1", (800, 500)).save(path)
    assert read_picture(path).size == (800, 500)


def test_rejects_other_formats_that_pillow_can_read(tmp_path: Path) -> None:
    Image.new("RGB", (2, 2)).save(tmp_path / "other.ppm")
    (tmp_path / "other.ppm").rename(tmp_path / "other.png")
    with pytest.raises(PlainError, match=r"other\.png is not a picture that can be read\."):
        read_picture(tmp_path / "other.png")


def test_does_not_read_metadata_outside_of_the_dataset(dataset: Path) -> None:
    (dataset.parent / "metadata.jsonl").write_text('{"file_name": "x.png", "text": "a"}')
    with pytest.raises(PlainError, match="leads out of its folder"):
        read(dataset, "../metadata.jsonl")


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
def test_keeps_the_shades_of_deep_grey_pictures(
    tmp_path: Path, values: np.ndarray, shades: list[int]
) -> None:
    Image.fromarray(values).save(tmp_path / "wide.tiff")
    picture = np.asarray(read_picture(tmp_path / "wide.tiff"))
    assert picture[0].tolist() == [[shade] * 3 for shade in shades]


def test_reads_a_16_bit_png(tmp_path: Path) -> None:
    Image.fromarray(np.full((2, 2), 25700, np.uint16)).save(tmp_path / "wide.png")
    assert read_picture(tmp_path / "wide.png").getpixel((0, 0)) == (100, 100, 100)
