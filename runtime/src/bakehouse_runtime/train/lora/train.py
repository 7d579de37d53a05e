"""LoRA fine-tuning of a causal language model with TRL and PEFT."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from ...base_model import lora_targets, read_base_model
from ...data.examples import prepare_examples, steps_per_epoch
from ...data.tokens import read_model_tokens
from ...device import choose_device, device_name, use_all_cores
from ...errors import PlainError, StopRequested
from ...workload import workload
from .checkpoints import last_checkpoint, write_json
from .export import Outcome, export

if TYPE_CHECKING:
    from pathlib import Path

    from peft import PeftModel
    from transformers import Trainer

    from ...protocol import TrainSpec
    from ...server_client import Artefact, Reporter
    from ...workload import Workload
    from .callback import TrainingCallback
    from .checkpoints import Checkpoint

CHECKPOINT_EVERY_S = 30.0


def train(spec: TrainSpec) -> int:
    """Trains, or goes on from the last checkpoint, until done or told to stop.

    Returns the exit status: 0 when the result is uploaded or the work is saved for later.
    """
    with workload(spec) as work:
        work.reporter.log(f"Training {spec.title} on {spec.dataset_title}.")
        try:
            _train(spec, work)
        except _memory_errors() as error:
            raise PlainError(
                "The memory is not enough: choose a smaller batch size, chunk size or rank."
            ) from error
    return 0


def _memory_errors() -> tuple[type[BaseException], ...]:
    import torch

    return (MemoryError, torch.OutOfMemoryError)


def _train(spec: TrainSpec, work: Workload) -> None:
    reporter = work.reporter
    inputs = work.pull_inputs()
    for name in ("base_model", "dataset"):
        if name not in inputs:
            raise PlainError(f"The spec has no input {name}.")

    reporter.phase("reading data")
    base = read_base_model(inputs["base_model"])
    targets = lora_targets(base, spec.parameters.lora.target_modules)
    prepared = prepare_examples(
        inputs["dataset"] / spec.data.file_path,
        spec.data,
        read_model_tokens(inputs["base_model"]),
        base.max_positions,
    )
    for warning in (*targets.warnings, *prepared.warnings):
        reporter.log(f"Note: {warning}")
    reporter.log(
        f"{len(prepared.train)} examples to train on, {len(prepared.held_out)} held out, "
        f"{len(prepared.dropped)} rows dropped."
    )

    parameters = spec.parameters
    epoch_steps = steps_per_epoch(
        len(prepared.train), parameters.batch_size, parameters.gradient_accumulation_steps
    )
    reporter.phase("loading model")
    from .callback import TrainingCallback
    from .trainer import build_trainer

    use_all_cores()
    device = choose_device(spec.device)
    callback = TrainingCallback(reporter, epoch_steps, CHECKPOINT_EVERY_S)
    checkpoints = work.work_dir / "checkpoints"
    trainer = build_trainer(
        spec,
        inputs["base_model"],
        checkpoints,
        prepared,
        targets.modules,
        device,
        epoch_steps * parameters.epochs,
        [callback],
    )
    held_out = len(prepared.held_out) > 0
    if held_out:
        callback.evaluate = trainer.evaluate
    try:
        base_loss = _base_loss(trainer, reporter, work.work_dir) if held_out else None
        _run(trainer, callback, reporter, last_checkpoint(checkpoints))
        eval_loss = _final_loss(trainer, reporter) if held_out else None
    except StopRequested:
        saved = last_checkpoint(checkpoints)
        reporter.stopped(saved.step if saved else 0)
        return

    state = trainer.state
    losses = [point["loss"] for point in state.log_history if "loss" in point]
    outcome = Outcome(
        train_loss=_mean(losses),
        train_loss_end=_mean(losses[-max(1, len(losses) // 10) :]),
        eval_loss_base=base_loss,
        eval_loss=eval_loss,
        tokens=state.num_input_tokens_seen,
        steps=state.global_step,
        seconds=callback.seconds,
        device=device_name(device),
        modules=targets.modules,
        warnings=[*targets.warnings, *prepared.warnings],
        history=state.log_history,
    )
    reporter.phase("saving")
    out = work.work_dir / "outputs"
    for warning in export(
        cast("PeftModel", trainer.model), spec, inputs["base_model"], out, prepared, outcome
    ):
        reporter.log(f"Note: {warning}")
    reporter.phase("uploading")
    reporter.result(_upload(out, work), _summary(outcome))


def _run(
    trainer: Trainer, callback: TrainingCallback, reporter: Reporter, saved: Checkpoint | None
) -> None:
    """Trains to the last step. Raises StopRequested when told to stop before it."""
    if reporter.stop_requested:
        raise StopRequested
    if saved is not None:
        reporter.log(f"Going on from the checkpoint of step {saved.step}.")
        callback.seconds = saved.seconds
    trainer.train(resume_from_checkpoint=str(saved.path) if saved else None)
    if trainer.state.global_step < trainer.state.max_steps:
        raise StopRequested


def _base_loss(trainer: Trainer, reporter: Reporter, work_dir: Path) -> float:
    """The held-out loss before training, measured once in all lives of the run."""
    memo = work_dir / "base_evaluation.json"
    if memo.exists():
        loss = float(json.loads(memo.read_text(encoding="utf-8"))["eval_loss"])
        reporter.metrics(0, {"eval_loss": loss})
        return loss
    reporter.phase("evaluating")
    loss = float(trainer.evaluate()["eval_loss"])
    write_json(memo, {"eval_loss": loss})
    return loss


def _final_loss(trainer: Trainer, reporter: Reporter) -> float:
    """The held-out loss at the last step: measured there, unless the run was killed before it."""
    for point in reversed(trainer.state.log_history):
        if "eval_loss" in point and point["step"] == trainer.state.global_step:
            return float(point["eval_loss"])
    reporter.phase("evaluating")
    return float(trainer.evaluate()["eval_loss"])


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _upload(out: Path, work: Workload) -> list[Artefact]:
    files = sorted(file for file in out.rglob("*") if file.is_file())
    total = sum(file.stat().st_size for file in files)
    done = 0
    uploaded = []
    for file in files:
        uploaded.append(work.client.upload(file.relative_to(out).as_posix(), file))
        done += file.stat().st_size
        work.reporter.progress(done, total, "bytes")
    return uploaded


def _summary(outcome: Outcome) -> dict[str, float | str | None]:
    return {
        "train_loss": outcome.train_loss,
        "train_loss_end": outcome.train_loss_end,
        "eval_loss_base": outcome.eval_loss_base,
        "eval_loss": outcome.eval_loss,
        "tokens": outcome.tokens,
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 3),
    }
