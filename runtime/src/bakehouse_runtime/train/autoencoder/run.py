"""`train` for the method `autoencoder`: a person's pictures, from spec to result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...device import use_all_cores
from ...errors import PlainError
from ...image.autoencoder import load_autoencoder
from ...image.pictures import fit_square, read_picture
from ...image.training.dataset import hold_out_pictures, picture_files
from ...image.training.sources import StoredPictures
from ...workload import workload
from ..picture_run import (
    PictureReporter,
    fresh_outputs,
    loop_settings,
    required_input,
    upload_result,
    write_card,
)
from .export import export_autoencoder, save_autoencoder
from .train import AutoencoderTraining, train_autoencoder

if TYPE_CHECKING:
    from ...protocol import TrainAutoencoderSpec
    from ...workload import Workload


def run(spec: TrainAutoencoderSpec) -> int:
    """Trains, or goes on from the last checkpoint, until done or stopped."""
    with workload(spec, "choose a smaller batch size") as work:
        _run(spec, work)
    return 0


def _run(spec: TrainAutoencoderSpec, work: Workload) -> None:
    inputs = work.inputs()
    base, dataset = (required_input(inputs, name) for name in ("base_model", "dataset"))
    reporter = PictureReporter(work)
    reporter.phase("reading data")
    model = load_autoencoder(base / "vae")
    side = int(model.config["sample_size"])
    pictures = [fit_square(read_picture(path), side) for path in picture_files(dataset)]
    if not pictures:
        raise PlainError("The dataset has no picture.")
    rows, held_out_rows = hold_out_pictures(np.arange(len(pictures)))
    held_out = [pictures[row] for row in held_out_rows]
    use_all_cores()
    finished = train_autoencoder(
        model,
        StoredPictures([pictures[row] for row in rows]),
        held_out,
        AutoencoderTraining(
            loop_settings(spec.parameters, spec.data.seed),
            spec.parameters.batch_size,
            freeze_encoder=spec.freeze_encoder,
        ),
        work.work_dir,
        reporter,
        spec.device,
    )
    if not finished:
        work.reporter.stopped(reporter.last_step)
        return
    reporter.phase("saving", counted=False)
    outputs = fresh_outputs(work)
    # With a frozen encoder the scale of the latents is a promise; otherwise it is measured anew.
    if spec.freeze_encoder:
        save_autoencoder(model, outputs / "vae")
    else:
        export_autoencoder(model, pictures[:64], outputs / "vae")
    write_card(outputs, spec, "An autoencoder", len(pictures), reporter.latest)
    upload_result(work, outputs, reporter)
