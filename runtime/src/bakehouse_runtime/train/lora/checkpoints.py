"""Checkpoints that survive a kill at any moment.

Trainer writes a checkpoint file by file. At the end a list of all files with their sizes is added;
a folder without a matching list is not a checkpoint.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from ...files import write_json

_LIST = "whole.json"


@dataclass(frozen=True)
class Checkpoint:
    path: Path
    step: int
    # Seconds of training up to it, over all restarts of the run.
    seconds: float


def mark_complete(path: Path, seconds: float) -> None:
    """Marks a checkpoint as completely written."""
    files = [file for file in path.iterdir() if file.is_file() and file.name != _LIST]
    sizes = {file.name: file.stat().st_size for file in files}
    write_json(path / _LIST, {"files": sizes, "seconds": seconds})


def last_checkpoint(folder: Path) -> Checkpoint | None:
    """Returns the newest complete checkpoint; deletes incomplete ones."""
    whole: list[Checkpoint] = []
    for path in folder.glob("checkpoint-*"):
        checkpoint = _read(path)
        if checkpoint is None:
            shutil.rmtree(path)
        else:
            whole.append(checkpoint)
    return max(whole, key=lambda checkpoint: checkpoint.step, default=None)


def drop_earlier(path: Path) -> None:
    """Deletes the checkpoints before a complete one."""
    step = int(path.name.removeprefix("checkpoint-"))
    for other in path.parent.glob("checkpoint-*"):
        if int(other.name.removeprefix("checkpoint-")) < step:
            shutil.rmtree(other)


def _read(path: Path) -> Checkpoint | None:
    try:
        value = json.loads((path / _LIST).read_text(encoding="utf-8"))
        agrees = all((path / name).stat().st_size == size for name, size in value["files"].items())
        step = int(path.name.removeprefix("checkpoint-"))
        return Checkpoint(path, step, float(value["seconds"])) if agrees else None
    except (OSError, ValueError, KeyError):
        return None
