"""A person's own pictures and captions, as a dataset asset holds them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from ...errors import PlainError
from ...files import inside
from ..pictures import fit_square, read_picture
from ..text import TextEncoder
from .latent_cache import Example

PICTURE_ENDINGS = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})
# Augmentation: each picture also in slightly narrower cuts, so that it is not memorised.
CUTS = 8
NARROWEST_CUT = 0.85
HELD_OUT_ONE_IN = 10


@dataclass(frozen=True)
class CaptionedPicture:
    """A picture file and its caption; with `source`, the instruction that leads from there.
    `where` names the caption's place to people."""

    path: Path
    text: str
    where: str
    source: Path | None = None


def read_captioned_pictures(folder: Path, metadata_path: str | None) -> list[CaptionedPicture]:
    """The pictures that a metadata file lists, or, without one, all that have a text file of the
    same name beside them.

    Raises PlainError for a row that cannot be used, and where there is nothing to train on.
    """
    if metadata_path is not None:
        pictures = _listed(folder, inside(folder, metadata_path))
    else:
        pictures = [
            _beside(path) for path in picture_files(folder) if path.with_suffix(".txt").is_file()
        ]
    if not pictures:
        raise PlainError(
            "The dataset has no captioned picture: it needs a metadata file, or a text file of the "
            "same name beside each picture."
        )
    return pictures


def _beside(path: Path) -> CaptionedPicture:
    caption = path.with_suffix(".txt")
    try:
        text = caption.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise PlainError(f"The caption {caption.name} cannot be read as UTF-8 text.") from error
    return CaptionedPicture(path, text, caption.name)


def check_caption_lengths(pictures: Sequence[CaptionedPicture], reader: TextEncoder) -> None:
    """Refuses a caption whose end the model would not read."""
    for picture in pictures:
        length = reader.length(picture.text)
        if length > reader.window:
            raise PlainError(
                f"{picture.where}: the text is {length} tokens long, but this model reads at most "
                f"{reader.window}."
            )


def picture_files(folder: Path) -> list[Path]:
    """All picture files in and below `folder`, in the order of their names."""
    files = (path for path in folder.rglob("*") if path.suffix.lower() in PICTURE_ENDINGS)
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def _listed(folder: Path, metadata: Path) -> list[CaptionedPicture]:
    try:
        lines = metadata.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PlainError(f"The metadata file {metadata.name} cannot be read as text.") from error
    pictures = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"Line {number} of {metadata.name}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise PlainError(f"{where} is not JSON.") from error
        if not isinstance(row, dict):
            raise PlainError(f"{where} is not an object.")
        text = row.get("text")
        if not isinstance(text, str) or not text.strip():
            raise PlainError(f"{where} has no text.")
        path = _inside(folder, metadata, row.get("file_name"), f"{where} has no file_name")
        source = row.get("source")
        before = None if source is None else _inside(folder, metadata, source, f"{where}: source")
        pictures.append(CaptionedPicture(path, text.strip(), where, before))
    if len({picture.source is None for picture in pictures}) > 1:
        raise PlainError(f"Some lines of {metadata.name} have a source and some have none.")
    return pictures


def _inside(folder: Path, metadata: Path, name: object, missing: str) -> Path:
    if not isinstance(name, str) or not name:
        raise PlainError(f"{missing}.")
    path = (metadata.parent / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise PlainError(f"{metadata.name} names {name}, which is outside of the dataset.")
    return path


class PictureExamples:
    """Captioned pictures as numbered examples: each in `CUTS` cuts, the first one whole."""

    def __init__(self, pictures: Sequence[CaptionedPicture], side: int, seed: int) -> None:
        self.pictures = pictures
        self.side = side
        self.seed = seed

    def __len__(self) -> int:
        return len(self.pictures) * CUTS

    def __getitem__(self, index: int) -> Example:
        picture = self.pictures[index // CUTS]
        rng = np.random.default_rng((self.seed, index))
        width = 1.0 if index % CUTS == 0 else rng.uniform(NARROWEST_CUT, 1.0)
        left, top = rng.uniform(0, 1 - width, 2)

        def cut(path: Path) -> Image.Image:
            square = fit_square(read_picture(path), 2 * self.side)
            box = tuple(2 * self.side * part for part in (left, top, left + width, top + width))
            return square.resize((self.side, self.side), Image.Resampling.LANCZOS, box)

        source = None if picture.source is None else cut(picture.source)
        return Example(cut(picture.path), picture.text, source)

    def picture_of_row(self) -> np.ndarray:
        """The number of the picture that each example shows: of the edited one, if it is edited.
        All cuts of a file have one number, and all captions that it has."""
        files = [picture.source or picture.path for picture in self.pictures]
        numbers = {file: number for number, file in enumerate(dict.fromkeys(files))}
        return np.repeat([numbers[file] for file in files], CUTS)


def hold_out_pictures(picture_of_row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on, and rows to measure on: all rows of every tenth picture.

    With fewer than ten pictures there is none to spare: then it is measured on what it is trained
    on.
    """
    rows = np.arange(len(picture_of_row))
    if picture_of_row.max() + 1 < HELD_OUT_ONE_IN:
        return rows, rows
    held_out = picture_of_row % HELD_OUT_ONE_IN == 0
    return rows[~held_out], rows[held_out]
