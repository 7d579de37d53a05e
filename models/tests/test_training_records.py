"""Tests the training table of the cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workshop.training_records import training_table, update_records

FROM_NOTHING: dict[str, Any] = {"batch_size": 4, "loop": {"optimizer": "muon"}}
GOING_ON = FROM_NOTHING | {"initial": "starter-paris/base"}


def logged(work: Path, at: int, step: int, *reopened: dict[str, Any]) -> None:
    rows = [
        {"at": at, "type": "machine", "device": "cpu", "threads": 2},
        {"at": at + 180, "type": "metrics", "step": step, "loss": 0.25},
        # The night between two sessions is not training time.
        {"at": at + 30_000, "type": "machine", "device": "cpu", "threads": 2},
        {"at": at + 30_180, "type": "metrics", "step": 2 * step, "loss": 0.125},
        *reopened,
    ]
    (work / "base").mkdir(parents=True, exist_ok=True)
    (work / "base" / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_reads_a_training_row_from_its_log(tmp_path: Path) -> None:
    logged(tmp_path, at=0, step=10)
    records = update_records(tmp_path, tmp_path, {"base": FROM_NOTHING}, ["base", "router"])
    assert training_table(records).splitlines()[2:] == [
        "| base | 20 x 4 | muon | 0.10 | cpu, threads: 2 | 0.125 |"
    ]


@pytest.mark.parametrize(("settings", "steps"), [(FROM_NOTHING, [40]), (GOING_ON, [20, 40])])
def test_a_continued_training_keeps_the_earlier_rows(
    tmp_path: Path, settings: dict[str, Any], steps: list[int]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    logged(first, at=0, step=10)
    logged(second, at=1_000_000, step=20)
    update_records(tmp_path, first, {"base": FROM_NOTHING}, ["base"])
    for _ in range(2):
        records = update_records(tmp_path, second, {"base": settings}, ["base"])
        assert [record["steps"] for record in records] == steps
        # Rerunning a finished step logs the machine, but trains nothing.
        called_again = {"at": 2_000_000, "type": "machine", "device": "cpu", "threads": 2}
        logged(second, 1_000_000, 20, called_again)


@pytest.mark.parametrize(("autoencoder", "rows"), [({"trained": "starter-paris/vae"}, 2), ({}, 1)])
def test_a_decoder_continues_the_shipped_autoencoder(
    tmp_path: Path, autoencoder: dict[str, Any], rows: int
) -> None:
    recipe = {"decoder": FROM_NOTHING, "autoencoder": autoencoder}
    for number, name in enumerate(("first", "second")):
        logged(tmp_path / name, at=1_000_000 * number, step=10)
        (tmp_path / name / "base").rename(tmp_path / name / "decoder")
        update_records(tmp_path, tmp_path / name, recipe, ["decoder"])
    assert len(json.loads((tmp_path / "training.json").read_text())) == rows


def test_a_part_without_a_log_keeps_its_row(tmp_path: Path) -> None:
    logged(tmp_path / "once", at=0, step=10)
    recipe = {"base": FROM_NOTHING}
    before = update_records(tmp_path, tmp_path / "once", recipe, ["base"])
    assert update_records(tmp_path, tmp_path / "elsewhere", recipe, ["base"]) == before
