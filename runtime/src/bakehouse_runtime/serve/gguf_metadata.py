"""Reads metadata of a GGUF without its vocabulary, which takes the gguf package seconds; a model
must answer within one."""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TEMPLATE = b"tokenizer.chat_template"
# The key's prefix is the model's architecture.
_CONTEXT = b".context_length"
# Bytes of the value types 0 to 12; strings and arrays have their own rules.
_BYTES = (1, 1, 2, 2, 4, 4, 4, 1, None, None, 8, 8, 8)
_STRING, _ARRAY = 8, 9
_NUMBERS = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}


def chat_template(path: Path) -> str | None:
    """Returns the chat template of the file, or None (llama.cpp then uses ChatML). Raises
    ValueError if the file is no complete GGUF."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            for key, kind, at in _entries(view):
                if key == _TEMPLATE and kind == _STRING:
                    return view[at + 8 : _after_string(view, at)].decode()
    except (struct.error, IndexError) as error:
        raise ValueError(f"{path.name} is not a complete GGUF") from error
    return None


def context_length(path: Path) -> int | None:
    """Returns the context length that the model was trained for, or None if it is unknown."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            for key, kind, at in _entries(view):
                if key.endswith(_CONTEXT) and kind in _NUMBERS:
                    (length,) = struct.unpack_from(_NUMBERS[kind], view, at)
                    return int(length) if length > 0 else None
    except (struct.error, IndexError, ValueError):
        pass
    return None


def _entries(view: mmap.mmap) -> Iterator[tuple[bytes, int, int]]:
    """Yields each key with the type and the offset of its value."""
    (count,) = struct.unpack_from("<Q", view, 16)
    at = 24
    for _ in range(count):
        begin, at = at + 8, _after_string(view, at)
        key = view[begin:at]
        (kind,) = struct.unpack_from("<I", view, at)
        yield key, kind, at + 4
        at = _after_value(view, at + 4, kind)


def _after_value(view: mmap.mmap, at: int, kind: int) -> int:
    if kind == _STRING:
        return _after_string(view, at)
    if kind != _ARRAY:
        return at + _size(kind)
    inner, count = struct.unpack_from("<IQ", view, at)
    at += 12
    if inner != _STRING:
        return at + count * _size(inner)
    for _ in range(count):
        at = _after_string(view, at)
    return at


def _after_string(view: mmap.mmap, at: int) -> int:
    (length,) = struct.unpack_from("<Q", view, at)
    return at + 8 + length


def _size(kind: int) -> int:
    size = _BYTES[kind]
    if size is None:
        raise IndexError(kind)
    return size
