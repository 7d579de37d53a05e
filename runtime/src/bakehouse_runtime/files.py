"""Reads untrusted files and writes files atomically."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from .errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Transformers options for uploaded models: no remote code, no hub access, no pickles.
SAFE_TOKENIZER: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
SAFE_WEIGHTS: dict[str, Any] = {**SAFE_TOKENIZER, "use_safetensors": True}


def inside(folder: Path, path: str) -> Path:
    """Returns `folder/path`. Raises PlainError if it leads out of the folder."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\0" in path or ".." in parts:
        raise PlainError(f"The path {path!r} leads out of its folder.")
    return folder.joinpath(*parts)


def read_object(path: Path) -> dict[str, Any]:
    """Returns the JSON object in a file of a model. Raises PlainError if there is none."""
    name = f"{path.parent.name}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PlainError(f"The file {name} of the model is missing.") from error
    # RecursionError: deeply nested lists.
    except (OSError, ValueError, RecursionError) as error:
        raise PlainError(f"The file {name} is not JSON.") from error
    if not isinstance(content, dict):
        raise PlainError(f"The file {name} is not a JSON object.")
    return content


def read_optional_object(path: Path) -> dict[str, Any]:
    """As `read_object`, but returns an empty object if the file does not exist."""
    return read_object(path) if path.is_file() else {}


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yields a temporary path that replaces `path` at the end of the block, so the file is never
    half written. If the block fails, the temporary file is deleted, because the cause may be a full
    disk and the file may have gigabytes."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: object) -> None:
    """Writes a JSON file atomically."""
    with write_atomically(path) as partial:
        partial.write_text(json.dumps(value), encoding="utf-8")
