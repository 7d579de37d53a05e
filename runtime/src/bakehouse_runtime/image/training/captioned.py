"""Reads a user's pictures and captions from a dataset asset. It needs no torch, so that validation
before payment reads exactly as training does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import PlainError
from ...files import inside
from ..pictures import RATIO_MAX, read_picture

PICTURE_ENDINGS = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})
# Files other than pictures that a dataset may contain without a warning.
_OTHER_ENDINGS = frozenset({".txt", ".jsonl", ".json", ".md", ".caption", ".yaml", ".yml"})
PICTURES_MAX = 2000
# Smaller pictures show no style, and would be blurred when enlarged.
SIDE_MIN = 32
_CAPTION_BYTES_MAX = 16_384


@dataclass(frozen=True)
class CaptionedPicture:
    """A picture file and its caption; with `source`, the caption is the instruction that edits it.
    `where` is the caption's location for messages."""

    path: Path
    text: str
    where: str
    source: Path | None = None
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class FileNote:
    """A message about a file."""

    file: str
    message: str


@dataclass(frozen=True)
class Captions:
    """Prepares captions: adds the trigger word and truncates to the model's window."""

    trigger_word: str | None
    window: int
    length: Callable[[str], int]

    def with_trigger(self, text: str) -> str:
        """Returns the text, with the trigger word in front unless it contains it."""
        word = self.trigger_word
        if not word or word.casefold() in text.casefold():
            return text
        return f"{word}, {text}" if text else word

    def fitted(self, text: str) -> str:
        """Drops the last words that exceed the window."""
        words = text.split()
        if self.length(text) <= self.window:
            return text
        low, high = 0, len(words)
        while low < high:
            middle = (low + high + 1) // 2
            if self.length(" ".join(words[:middle])) <= self.window:
                low = middle
            else:
                high = middle - 1
        return " ".join(words[:low])


@dataclass
class PictureSet:
    """The usable pictures, the unusable ones with reasons, and notes about usable ones."""

    kept: list[CaptionedPicture] = field(default_factory=list)
    left_out: list[FileNote] = field(default_factory=list)
    notes: list[FileNote] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.kept) + len(self.left_out)


def read_picture_set(
    folder: Path, metadata_path: str | None, captions: Captions, usual_side: int
) -> PictureSet:
    """Returns the pictures of a metadata file, or all pictures of the folder, each with the text
    file of the same name as its caption. Reads every file to its end.

    Raises PlainError if there are no pictures, or too many.
    """
    found = PictureSet()
    if metadata_path is None:
        listed = _beside(folder, found)
    else:
        listed = _listed(folder, inside(folder, metadata_path), found)
    first_with: dict[str, str] = {}
    for picture in listed:
        if found.total >= PICTURES_MAX:
            raise PlainError(f"The dataset has more than {PICTURES_MAX:,} pictures.")
        try:
            found.kept.append(_examined(folder, picture, captions, usual_side, first_with, found))
        except PlainError as error:
            found.left_out.append(FileNote(_name(folder, picture.path), str(error)))
    if len({picture.source is None for picture in found.kept}) > 1:
        raise PlainError(f"Some lines of {metadata_path} have a source and some have none.")
    if not found.kept and not found.left_out:
        raise PlainError(
            "The dataset has no pictures: add PNG, JPEG or WebP files with a text file of the same "
            "name next to each, or a metadata.jsonl."
        )
    return found


def picture_files(folder: Path) -> list[Path]:
    """Returns all picture files in and below `folder`, sorted by name."""
    return [path for path in _files(folder) if path.suffix.lower() in PICTURE_ENDINGS]


def _files(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(files, key=lambda path: _name(folder, path))


def _beside(folder: Path, found: PictureSet) -> Iterator[CaptionedPicture]:
    for path in _files(folder):
        name, ending = _name(folder, path), path.suffix.lower()
        if ending not in PICTURE_ENDINGS:
            if ending not in _OTHER_ENDINGS and not path.name.startswith("."):
                message = f"{name} is no PNG, JPEG, WebP, BMP, GIF or TIFF file."
                found.left_out.append(FileNote(name, message))
            continue
        caption = path.with_suffix(".txt")
        try:
            text = _text(caption, _name(folder, caption)) if caption.is_file() else ""
        except PlainError as error:
            found.left_out.append(FileNote(name, str(error)))
            continue
        yield CaptionedPicture(path, text, _name(folder, caption))


def _text(path: Path, name: str) -> str:
    if path.stat().st_size > _CAPTION_BYTES_MAX:
        raise PlainError(f"The caption {name} has more than {_CAPTION_BYTES_MAX:,} bytes.")
    try:
        return " ".join(path.read_text(encoding="utf-8-sig").split())
    except (OSError, UnicodeDecodeError) as error:
        raise PlainError(f"The caption {name} cannot be read as UTF-8 text.") from error


def _listed(folder: Path, metadata: Path, found: PictureSet) -> Iterator[CaptionedPicture]:
    try:
        lines = metadata.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PlainError(f"The metadata file {metadata.name} cannot be read as text.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"Line {number} of {metadata.name}"
        try:
            yield _of_line(folder, metadata, where, line)
        except PlainError as error:
            found.left_out.append(FileNote(metadata.name, str(error)))


def _of_line(folder: Path, metadata: Path, where: str, line: str) -> CaptionedPicture:
    try:
        row = json.loads(line)
    # RecursionError: deeply nested lists.
    except (ValueError, RecursionError) as error:
        raise PlainError(f"{where} is not JSON.") from error
    if not isinstance(row, dict):
        raise PlainError(f"{where} is not an object.")
    text = row.get("text", "")
    if not isinstance(text, str):
        raise PlainError(f"{where} has a text that is not a string.")
    path = _inside(folder, metadata, row.get("file_name"), f"{where} has no file_name")
    source = row.get("source")
    before = None if source is None else _inside(folder, metadata, source, f"{where}: source")
    return CaptionedPicture(path, " ".join(text.split()), where, before)


def _inside(folder: Path, metadata: Path, name: object, missing: str) -> Path:
    if not isinstance(name, str) or not name:
        raise PlainError(f"{missing}.")
    path = (metadata.parent / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise PlainError(f"{metadata.name} names {name}, which is outside of the dataset.")
    return path


def _examined(
    folder: Path,
    picture: CaptionedPicture,
    captions: Captions,
    usual_side: int,
    first_with: dict[str, str],
    found: PictureSet,
) -> CaptionedPicture:
    """Returns the picture with its size and its final caption. Raises PlainError if it is
    unusable."""
    name = _name(folder, picture.path)
    width, height = read_picture(picture.path).size
    if picture.source is not None:
        read_picture(picture.source)
    if min(width, height) < SIDE_MIN:
        raise PlainError(
            f"{name} is {width} x {height} pixels; at least {SIDE_MIN} x {SIDE_MIN} are needed."
        )
    if max(width, height) > RATIO_MAX * min(width, height):
        raise PlainError(
            f"{name} is too narrow: one side is more than {RATIO_MAX} times as long as the other."
        )
    # The same picture with another source or instruction is a different example.
    content = hashlib.sha256(picture.path.read_bytes())
    if picture.source is not None:
        content.update(picture.source.read_bytes() + picture.text.encode())
    before = first_with.setdefault(content.hexdigest(), name)
    if before != name:
        raise PlainError(f"{name} is the same picture as {before}.")
    text = captions.with_trigger(picture.text)
    if not text:
        raise PlainError(
            f"{name} has no caption: put it into {picture.where}, or choose a trigger word."
            if picture.where.endswith(".txt")
            else f"{picture.where} has no text for {name}: write one, or choose a trigger word."
        )
    if not picture.text:
        message = f"{name} has no caption: the trigger word stands for it."
        found.notes.append(FileNote(name, message))
    fitted = captions.fitted(text)
    if fitted != text:
        length = captions.length(text)
        found.notes.append(
            FileNote(
                name,
                f"{picture.where}: the text is {length} tokens long, and this model reads "
                f"{captions.window}: its end is left out.",
            )
        )
    if min(width, height) < usual_side:
        message = f"{name} is {width} x {height} pixels and is enlarged to {usual_side}."
        found.notes.append(FileNote(name, message))
    return replace(picture, text=fitted, width=width, height=height)


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
