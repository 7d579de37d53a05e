"""The training history of the shipped weights: one row per training, read from its log when its
card is written. It is stored with the weights, because later trainings may continue from them on
another machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

from .recipe import Recipe

RECORDS = "training.json"
LONGEST_STEP_SECONDS = 300


class TrainingRecord(TypedDict):
    """One training: its last step and loss, its wall-clock hours, and the machine."""

    part: str
    ended: str
    steps: int
    # None for videos that are cut to several lengths, each with its own batch size.
    batch_size: int | None
    optimizer: str
    hours: float
    on: str
    loss: float


def update_records(
    folder: Path, work: Path, recipe: Recipe, parts: Sequence[str]
) -> list[TrainingRecord]:
    """Returns the rows of these parts in the model's folder, updated from the logs in `work`:
    retraining a part from scratch replaces its rows, continuing it adds one."""
    path = folder / RECORDS
    kept: list[TrainingRecord] = json.loads(path.read_text()) if path.exists() else []
    records: list[TrainingRecord] = []
    for part in parts:
        rows = [row for row in kept if row["part"] == part]
        log = work / part / "log.jsonl"
        if log.exists():
            settings = recipe[part.partition("_")[0].replace("-", "_")]
            new = _record(part, settings, log)
            # A decoder continues the training of the autoencoder, which may be the shipped one.
            went_on = "initial" in settings or (
                part == "decoder" and "trained" in recipe["autoencoder"]
            )
            rows = [row for row in rows if went_on and row["ended"] != new["ended"]] + [new]
        records += rows
    path.write_text(json.dumps(records, indent=2) + "\n")
    return records


def _record(part: str, settings: Recipe, log: Path) -> TrainingRecord:
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    losses = [row for row in rows if row["type"] == "metrics" and "loss" in row]
    machine = [row for row in rows if row["type"] == "machine"][-1]
    moments = [row["at"] for row in rows]
    # A longer gap is a pause between two sessions.
    gaps = (after - before for before, after in pairwise(moments))
    on = machine["device"]
    return {
        "part": part,
        "ended": datetime.fromtimestamp(losses[-1]["at"], UTC).isoformat(timespec="seconds"),
        "steps": losses[-1]["step"],
        "batch_size": settings.get("batch_size"),
        "optimizer": settings["loop"].get("optimizer", "adamw"),
        "hours": round(sum(gap for gap in gaps if gap < LONGEST_STEP_SECONDS) / 3600, 2),
        "on": f"{on}, threads: {machine['threads']}" if on == "cpu" else on,
        "loss": losses[-1]["loss"],
    }


def training_table(records: Sequence[TrainingRecord]) -> str:
    """Returns one line per training."""
    lines = [
        "| part | steps x batch | optimizer | hours | on | loss at the end |",
        "|---|---|---|---|---|---|",
    ]
    for row in records:
        size = f"{row['steps']} x {row['batch_size'] or 'several'}"
        lines.append(
            f"| {row['part']} | {size} | {row['optimizer']} | {row['hours']:.2f} | {row['on']} "
            f"| {row['loss']:.3f} |"
        )
    return "\n".join(lines)
