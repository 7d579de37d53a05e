"""Files that others have made, and files that must never be seen half written."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from .errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Iterator

# How Transformers loads what a stranger may have uploaded: none of its code, nothing from a hub,
# and no pickles.
SAFE_TOKENIZER: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
SAFE_WEIGHTS: dict[str, Any] = {**SAFE_TOKENIZER, "use_safetensors": True}


def inside(folder: Path, path: str) -> Path:
    """`folder/path`. Raises PlainError where it would lead out of the folder."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\0" in path or ".." in parts:
        raise PlainError(f"The path {path!r} leads out of its folder.")
    return folder.joinpath(*parts)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model. Raises PlainError where there is none."""
    name = f"{path.parent.name}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PlainError(f"The file {name} of the model is missing.") from error
    # RecursionError: lists within lists without end.
    except (OSError, ValueError, RecursionError) as error:
        raise PlainError(f"The file {name} is not JSON.") from error
    if not isinstance(content, dict):
        raise PlainError(f"The file {name} is not a JSON object.")
    return content


def read_optional_object(path: Path) -> dict[str, Any]:
    """The same; empty where there is no such file."""
    return read_object(path) if path.is_file() else {}


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, which takes its place at the end of the block: nobody sees
    the file half written. Nothing of it stays where the block fails: it may be gigabytes, and a
    full disk the reason."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: object) -> None:
    """Writes a JSON file whole or not at all."""
    with written_whole(path) as partial:
        partial.write_text(json.dumps(value), encoding="utf-8")
