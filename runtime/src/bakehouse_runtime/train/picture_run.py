"""What the picture trainers share as workloads: their reports, results and cards."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Protocol

from ..errors import PlainError
from ..image.training.loop import LoopSettings
from ..workload import CHECKPOINTS_FOLDER
from .card import origin
from .checkpoint_artefact import CheckpointArtefact, restore_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..image.training.reporter import Unit
    from ..protocol import PictureDataSpec, PictureTrainingParameters
    from ..workload import Workload


class PictureSpec(Protocol):
    """What the specs of all picture trainers have."""

    @property
    def method(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def base_model_title(self) -> str: ...
    @property
    def dataset_title(self) -> str: ...
    @property
    def parameters(self) -> PictureTrainingParameters: ...
    @property
    def data(self) -> PictureDataSpec: ...


SAMPLES_FOLDER = "samples"


class PictureReporter:
    """Hands a trainer's reports to the server, sample sheets as artefacts, and keeps the newest
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

    def samples(self, sheet: Path) -> None:
        self._work.client.upload(f"{SAMPLES_FOLDER}/{sheet.name}", sheet)


def loop_settings(parameters: PictureTrainingParameters, seed: int) -> LoopSettings:
    """The loop's settings for a person's run: a curve of some hundred points."""
    return LoopSettings(
        steps=parameters.steps,
        learning_rate=parameters.learning_rate,
        seed=seed,
        warmup_steps=min(100, parameters.steps // 10),
        report_every=max(1, parameters.steps // 300),
        checkpoint_every=parameters.checkpoint_every,
    )


def required_input(inputs: Mapping[str, Path], name: str) -> Path:
    """The folder of an input that the method cannot do without."""
    if name not in inputs:
        raise PlainError(f"The spec has no input {name}.")
    return inputs[name]


def fresh_outputs(work: Workload) -> Path:
    """An empty folder for the result."""
    outputs = work.work_dir / "outputs"
    shutil.rmtree(outputs, ignore_errors=True)
    outputs.mkdir(parents=True)
    return outputs


def upload_result(work: Workload, outputs: Path, reporter: PictureReporter) -> None:
    """Uploads everything in `outputs` and reports the result."""
    work.reporter.result(work.upload(outputs), {**reporter.latest, "steps": reporter.last_step})


def write_card(
    outputs: Path, spec: PictureSpec, what: str, pictures: int, measured: Mapping[str, float]
) -> None:
    """The model card: what was trained on what, how, and the curves' last values."""
    parameters = spec.parameters
    title = " ".join(spec.title.split())
    front_matter = {
        **origin(spec.base_model_title, spec.dataset_title),
        "library_name": "diffusers",
        "tags": [spec.method, "bakehouse"],
    }
    lines = [
        "---",
        # JSON is YAML, and needs no quoting rules of its own.
        *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front_matter.items()),
        "---",
        f"# {title}",
        "",
        f"{what}, made from {pictures} pictures of {spec.dataset_title}.",
        "",
        "| | |",
        "|---|---|",
        f"| Steps | {parameters.steps} |",
        f"| Learning rate | {parameters.learning_rate:g} |",
        f"| Batch size | {parameters.batch_size} |",
        f"| Seed | {spec.data.seed} |",
        *(f"| {name} at the end | {value:.4g} |" for name, value in sorted(measured.items())),
        "",
    ]
    (outputs / "README.md").write_text("\n".join(lines), encoding="utf-8")
