"""Whether a GGUF brings a chat template along. llama.cpp takes ChatML where there is none."""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_KEY = b"tokenizer.chat_template"
# Bytes of the value types 0 to 12; strings and arrays have their own rules.
_BYTES = (1, 1, 2, 2, 4, 4, 4, 1, None, None, 8, 8, 8)
_STRING, _ARRAY = 8, 9


def has_chat_template(path: Path) -> bool:
    """Walks over the metadata alone: the gguf package takes seconds to read a vocabulary, and a
    model is to answer within one."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return _walk(view)
    except (struct.error, IndexError, ValueError):
        # No whole GGUF: llama.cpp says so when it loads it.
        return True


def _walk(view: mmap.mmap) -> bool:
    (count,) = struct.unpack_from("<Q", view, 16)
    at = 24
    for _ in range(count):
        begin, at = at + 8, _after_string(view, at)
        if view[begin:at] == _KEY:
            return True
        (kind,) = struct.unpack_from("<I", view, at)
        at = _after_value(view, at + 4, kind)
    return False


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
