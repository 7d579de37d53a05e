from __future__ import annotations

from typing import TYPE_CHECKING

from bakehouse_runtime.train.cadence import Cadence
from bakehouse_runtime.train.lora.checkpoints import last_checkpoint, mark_complete

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, step: int, *, whole: bool = True) -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir(parents=True)
    (path / "adapter_model.safetensors").write_bytes(b"weights")
    (path / "optimizer.pt").write_bytes(b"state" * step)
    if whole:
        mark_complete(path, seconds=step / 2)
    return path


def test_finds_the_newest_complete_checkpoint(tmp_path: Path) -> None:
    for step in (5, 100, 20):
        write(tmp_path, step)
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert (found.step, found.seconds) == (100, 50.0)


def test_deletes_incomplete_checkpoints(tmp_path: Path) -> None:
    good = write(tmp_path, 5)
    unmarked = write(tmp_path, 10, whole=False)
    short = write(tmp_path, 20)
    (short / "optimizer.pt").write_bytes(b"sta")
    missing = write(tmp_path, 30)
    (missing / "optimizer.pt").unlink()
    broken = write(tmp_path, 40)
    (broken / "whole.json").write_text("{")
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.path == good
    assert not any(path.exists() for path in (unmarked, short, missing, broken))


def test_returns_none_without_checkpoints(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path / "nothing") is None


def test_saves_the_first_checkpoint_early_and_the_next_after_half_a_minute() -> None:
    cadence = Cadence(100.0, 5.0, 30.0)
    assert [cadence.is_due(at) for at in (104.0, 105.0)] == [False, True]
    cadence.saved(105.0, 105.1)
    assert [cadence.is_due(at) for at in (134.0, 136.0)] == [False, True]


def test_saving_and_uploading_each_use_one_percent_of_the_time() -> None:
    cadence = Cadence(0.0, 5.0, 30.0)
    assert cadence.is_due(1.0, epoch_ends=True)
    cadence.saved(1.0, 9.0)
    for epoch_ends in (False, True):
        assert not cadence.is_due(808.0, epoch_ends=epoch_ends)
        assert cadence.is_due(809.0, epoch_ends=epoch_ends)


def test_the_end_of_an_epoch_skips_the_pause() -> None:
    cadence = Cadence(0.0, 5.0, 30.0)
    cadence.saved(1.0, 1.02)
    assert cadence.is_due(3.1, epoch_ends=True)
    assert not cadence.is_due(3.1)


def test_saving_stays_within_its_share_with_short_epochs() -> None:
    cadence = Cadence(0.0, 5.0, 30.0)
    now, spent = 0.0, 0.0
    for _ in range(600):
        now += 2.0
        if cadence.is_due(now, epoch_ends=True):
            cadence.saved(now, now + 0.5)
            now, spent = now + 0.5, spent + 0.5
    # The first save does not count, because its duration was unknown in advance.
    assert spent - 0.5 <= 0.01 * now
    assert spent >= 0.5 * 20
