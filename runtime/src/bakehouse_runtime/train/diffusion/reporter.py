"""Reports a diffusion training as a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image

from ...files import read_optional_object, write_json
from ...workload import CHECKPOINTS_FOLDER
from ..checkpoint_artefact import CheckpointArtefact, restore_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...image.training.loop import Unit
    from ...workload import Workload

# The samples before the first step.
FIRST_SAMPLES = "samples/step-00000000"
# The adapter that generated the newest samples.
SAMPLED_ADAPTER = "sampled-adapter/pytorch_lora_weights.safetensors"


class DiffusionReporter:
    """Forwards a trainer's reports to the server and uploads samples. `latest` has the newest value
    of each curve for the summary; `first` has the values before the first step, also after a
    restart."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self.latest: dict[str, float] = {}
        self.last_step = 0
        self._on_server = CheckpointArtefact(work)
        restore_checkpoint(work)
        self._first_file = work.work_dir / "first-values.json"
        self.first: dict[str, float] = read_optional_object(self._first_file)

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
        if step == 0:
            self.first = dict(values)
            write_json(self._first_file, self.first)
        self._work.reporter.metrics(step, values)

    def log(self, line: str) -> None:
        self._work.reporter.log(line)

    def checkpoint(self, step: int) -> None:
        self.last_step = step
        self._work.reporter.checkpoint(step)
        newest = max((self._work.work_dir / CHECKPOINTS_FOLDER).glob("step-*.pt"), default=None)
        if newest is not None:
            first = [self._first_file, self._work.work_dir / FIRST_SAMPLES]
            self._on_server.upload([newest, *(path for path in first if path.exists())])

    def stopped(self) -> None:
        self._on_server.upload_last()
        self._work.reporter.stopped(self.last_step)

    def samples(self, written: Path) -> None:
        """Uploads a sheet as an artefact. A folder of pictures is reported once all are uploaded,
        with the adapter that generated them, unless it is still untrained."""
        client = self._work.client
        if written.is_file():
            client.upload(f"samples/{written.name}", written)
            return
        pictures: list[dict[str, object]] = []
        for file in sorted(written.iterdir()):
            path = f"samples/{written.name}/{file.name}"
            client.upload(path, file)
            with Image.open(file) as picture:
                pictures.append({"path": path, "width": picture.width, "height": picture.height})
        adapter = self._work.work_dir / SAMPLED_ADAPTER
        if self.last_step == 0 or not adapter.is_file():
            self._work.reporter.samples(self.last_step, pictures)
            return
        path = f"{CHECKPOINTS_FOLDER}/{written.name}/{adapter.name}"
        client.upload(path, adapter)
        self._work.reporter.samples(self.last_step, pictures, path)
