"""The reports of a diffusion training as a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...workload import CHECKPOINTS_FOLDER
from ..checkpoint_artefact import CheckpointArtefact, restore_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...image.training.loop import Unit
    from ...workload import Workload


class DiffusionReporter:
    """Hands a trainer's reports to the server, samples as artefacts, and keeps the newest
    value of each curve for the summary."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self.latest: dict[str, float] = {}
        self.last_step = 0
        self._on_server = CheckpointArtefact(work)
        restore_checkpoint(work)

    @property
    def stop_requested(self) -> bool:
        return self._work.reporter.stop_requested

    def phase(self, phase: str, *, counted: bool = True) -> None:
        self._work.reporter.phase(phase, counted=counted)

    def progress(
        self, done: float, total: float, unit: Unit, remaining_seconds: float | None = None
    ) -> None:
        self._work.reporter.progress(done, total, unit, remaining_seconds)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        self.latest.update(values)
        self._work.reporter.metrics(step, values)

    def log(self, line: str) -> None:
        self._work.reporter.log(line)

    def checkpoint(self, step: int) -> None:
        self.last_step = step
        self._work.reporter.checkpoint(step)
        newest = max((self._work.work_dir / CHECKPOINTS_FOLDER).glob("step-*.pt"), default=None)
        if newest is not None:
            self._on_server.upload([newest])

    def samples(self, file: Path) -> None:
        self._work.client.upload(f"samples/{file.name}", file)
