"""`edit-rows`: writes an edited copy of a data file."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

from ...errors import PlainError
from ..rows import kind_of
from .edit import EditError, StaleError, read_edits


def edit_file(path: Path, name: str, asked: list[dict[str, Any]], target: Path) -> None:
    """Writes `path` with these edits to `target`. Raises EditError, StaleError, and PlainError for
    a file that cannot be edited."""
    edits = read_edits(asked)
    kind = kind_of(name)
    if kind == "parquet":
        from .parquet_groups import edit_parquet

        edit_parquet(path, name, edits, target)
    elif kind in ("csv", "tsv", "jsonl"):
        from .text_lines import edit_lines

        with target.open("wb") as stream:
            edit_lines(path, name, edits, stream)
    else:
        raise PlainError(f"{name} cannot be edited here: only csv, tsv, jsonl and parquet can.")


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Edits a file, or returns the reason why that is not possible."""
    folder = Path(asked["folder"])
    name = PurePath(asked["name"]).name
    try:
        edit_file(folder / asked["file"], name, asked["edits"], folder / "scratch" / "result")
    except StaleError as error:
        return {"stale": str(error)}
    except EditError as error:
        return {"refused": str(error), "index": error.index}
    except PlainError as error:
        return {"unreadable": str(error)}
    return {}
