"""LoRA fine-tuning of a causal language model with TRL and PEFT."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from ...base_model import lora_targets, read_base_model
from ...confined import run_confined
from ...data.examples import steps_per_epoch
from ...data.tokens import read_model_tokens
from ...data.validation_file import prepare_files
from ...device import choose_device, device_name, refuse_several_devices, use_all_cores
from ...errors import PlainError, StoppedEarly, StopRequested
from ...files import inside, write_json
from ...workload import CHECKPOINTS_FOLDER, workload
from ..checkpoint_artefact import CheckpointArtefact, restore_checkpoint
from .checkpoints import last_checkpoint
from .export import Outcome, export

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from peft import PeftModel
    from transformers import Trainer

    from ...base_model import LoraTargets
    from ...data.prepared import Prepared
    from ...device import Device
    from ...protocol import TrainTextSpec
    from ...server_client import Reporter
    from ...workload import Workload
    from .best import Best, BestAdapter
    from .callback import TrainingCallback
    from .checkpoints import Checkpoint


_BASE_EVALUATION = "base_evaluation.json"
_BEST_ADAPTER = "best_adapter.safetensors"


def run(spec: TrainTextSpec) -> int:
    """Trains, or goes on from the last checkpoint, until done or stopped.

    Returns the exit status: 0 when the result is uploaded or the work is saved for later.
    """
    with workload(spec, "choose a smaller batch size, chunk size or rank") as work:
        work.reporter.log(f"Training {spec.title} on {spec.dataset_title}.")
        _run(spec, work)
    return 0


def _run(spec: TrainTextSpec, work: Workload) -> None:
    reporter = work.reporter
    inputs = work.inputs()
    validation = ["validation"] if spec.data.validation_path else []
    for name in ("base_model", "dataset", *validation):
        if name not in inputs:
            raise PlainError(f"The spec has no input {name}.")

    restore_checkpoint(work)
    targets, prepared = _read(spec, inputs, reporter)
    parameters = spec.parameters
    epoch_steps = steps_per_epoch(
        len(prepared.train), parameters.batch_size, parameters.gradient_accumulation_steps
    )
    reporter.phase("loading model")
    from .callback import TrainingCallback
    from .held_out import answer_held_out
    from .trainer import build_trainer

    use_all_cores()
    device = choose_device(spec.device)
    refuse_several_devices(device)
    checkpoints = work.work_dir / CHECKPOINTS_FOLDER
    best_adapter = _best_adapter(work, len(prepared.held_out))
    on_server = CheckpointArtefact(work)
    callback = TrainingCallback(
        reporter,
        epoch_steps,
        _to_server(work, on_server),
        best_adapter.note,
        best_adapter.save,
        eval_steps=parameters.eval_steps,
        patience=parameters.early_stopping_patience if best_adapter.chooses else 0,
    )
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
        reporter.metrics(0, {"held_out_rows": len(prepared.held_out)})
    try:
        base_loss = _base_loss(trainer, reporter, work.work_dir) if held_out else None
        _train(trainer, callback, reporter, last_checkpoint(checkpoints))
        if held_out:
            _measure_last(trainer, reporter)
        best = best_adapter.restore(trainer.model, trainer.state.global_step)
        answer_held_out(trainer, prepared, reporter, work.work_dir)
    except StopRequested:
        on_server.upload_last()
        _say_stopped(reporter, checkpoints)
        return

    outcome = _outcome(trainer, callback, base_loss, best, targets, prepared, device)
    _say_what_is_kept(outcome, reporter)
    reporter.phase("saving", counted=False)
    out = work.work_dir / "outputs"
    for warning in export(
        cast("PeftModel", trainer.model), spec, inputs["base_model"], out, prepared, outcome
    ):
        reporter.log(f"Note: {warning}")
    reporter.result(work.upload(out), _summary(outcome))


def _best_adapter(work: Workload, held_out: int) -> BestAdapter:
    """What keeps the best adapter; the log says where so few rows are held out that it cannot."""
    from .best import CHOOSING_ROWS_MIN, BestAdapter

    chooses = held_out >= CHOOSING_ROWS_MIN
    if not chooses and held_out > 0:
        work.reporter.log(
            f"Fewer than {CHOOSING_ROWS_MIN} rows are held out, too few to choose a step by: the "
            "adapter of the last step is kept."
        )
    return BestAdapter(work.work_dir / _BEST_ADAPTER, chooses=chooses)


def _say_what_is_kept(outcome: Outcome, reporter: Reporter) -> None:
    """Why training ended before its last step, and which step's adapter is kept, if another's."""
    if outcome.stopped_early is not None:
        reporter.log(
            f"The held-out loss did not fall in {outcome.stopped_early} evaluations: training "
            f"stopped early, at step {outcome.steps} of {outcome.steps_total}."
        )
    if outcome.best_step is not None and outcome.best_step != outcome.steps:
        reporter.log(
            f"The held-out loss was lowest at step {outcome.best_step}: the adapter of that step "
            "is kept."
        )


def _read(
    spec: TrainTextSpec, inputs: dict[str, Path], reporter: Reporter
) -> tuple[LoraTargets, Prepared]:
    """What of the base is trained, and the examples; the log says what there is to know of them."""
    reporter.phase("reading data")
    targets, prepared = run_confined(
        PurePosixPath(spec.data.file_path).name,
        read_inputs,
        spec,
        inputs["base_model"],
        inputs["dataset"],
        inputs.get("validation"),
        stop_requested=lambda: reporter.stop_requested,
    )
    for warning in (*targets.warnings, *prepared.warnings):
        reporter.log(f"Note: {warning}")
    reporter.log(
        f"Examples: {len(prepared.train)} to train on, {len(prepared.held_out)} held out. "
        f"Rows dropped: {prepared.dropped.count}."
    )
    return targets, prepared


def _say_stopped(reporter: Reporter, checkpoints: Path) -> None:
    saved = last_checkpoint(checkpoints)
    reporter.stopped(saved.step if saved else 0)


def _to_server(work: Workload, on_server: CheckpointArtefact) -> Callable[[Path], None]:
    """Uploads a checkpoint to the server, with what a run measures only once."""
    files = [work.work_dir / name for name in (_BASE_EVALUATION, _BEST_ADAPTER)]
    return lambda checkpoint: on_server.upload(
        [checkpoint, *(file for file in files if file.exists())]
    )


def read_inputs(
    spec: TrainTextSpec, base_model: Path, dataset: Path, validation: Path | None = None
) -> tuple[LoraTargets, Prepared]:
    """The modules that get an adapter, and the examples. The files are not trusted: call it in a
    process with limits."""
    data = spec.data
    base = read_base_model(base_model)
    parameters = spec.parameters
    targets = lora_targets(base, parameters.lora.target_modules, parameters.objective)
    tokens = read_model_tokens(base_model, data.date)
    path = inside(dataset, data.file_path)
    held_out = (
        inside(validation, data.validation_path) if validation and data.validation_path else None
    )
    return targets, prepare_files(
        path, held_out, data, tokens, base.max_positions, objective=parameters.objective
    )


def _train(
    trainer: Trainer, callback: TrainingCallback, reporter: Reporter, saved: Checkpoint | None
) -> None:
    """Trains to the last step, or until nothing is gained any more. Raises StopRequested when
    stopped before that."""
    if reporter.stop_requested:
        raise StopRequested
    if saved is not None:
        reporter.log(f"Continuing from the checkpoint of step {saved.step}.")
        callback.seconds = saved.seconds
    try:
        trainer.train(resume_from_checkpoint=str(saved.path) if saved else None)
    except StoppedEarly:
        return
    if trainer.state.global_step < trainer.state.max_steps:
        raise StopRequested


def _base_loss(trainer: Trainer, reporter: Reporter, work_dir: Path) -> float:
    """The held-out loss before training, measured once, however often the run restarts."""
    from .callback import held_out_measures

    evaluation_file = work_dir / _BASE_EVALUATION
    if evaluation_file.exists():
        measured = held_out_measures(json.loads(evaluation_file.read_text(encoding="utf-8")))
        reporter.metrics(0, measured)
    else:
        reporter.phase("evaluating")
        measured = held_out_measures(trainer.evaluate())
        write_json(evaluation_file, measured)
    return measured["eval_loss"]


def _measure_last(trainer: Trainer, reporter: Reporter) -> None:
    """Measures the held-out loss at the last step where the run was killed before that."""
    step = trainer.state.global_step
    if not any("eval_loss" in one and one["step"] == step for one in trainer.state.log_history):
        reporter.phase("evaluating")
        trainer.evaluate()


def _outcome(
    trainer: Trainer,
    callback: TrainingCallback,
    base_loss: float | None,
    best: Best | None,
    targets: LoraTargets,
    prepared: Prepared,
    device: Device,
) -> Outcome:
    from .callback import evaluations_without_gain

    state = trainer.state
    ended_early = state.global_step < state.max_steps
    losses = [point["loss"] for point in state.log_history if "loss" in point]
    return Outcome(
        train_loss=_mean(losses),
        train_loss_end=_mean(losses[-max(1, len(losses) // 10) :]),
        eval_loss_base=base_loss,
        eval_loss=best.eval_loss if best else None,
        eval_reward_accuracy=_measured_at(state.log_history, best, "eval_reward_accuracy"),
        best_step=best.step if best else None,
        tokens=state.num_input_tokens_seen,
        steps=state.global_step,
        steps_total=state.max_steps,
        stopped_early=evaluations_without_gain(state.log_history) if ended_early else None,
        seconds=callback.seconds,
        device=device_name(device),
        modules=targets.modules,
        warnings=[*targets.warnings, *prepared.warnings],
        history=state.log_history,
    )


def _measured_at(history: list[dict[str, Any]], best: Best | None, name: str) -> float | None:
    """What was measured of the adapter that is kept; None where its objective has no such thing."""
    points = [point for point in history if best and point["step"] == best.step]
    return next((point[name] for point in points if name in point), None)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _summary(outcome: Outcome) -> dict[str, float | str | None]:
    return {
        "train_loss": outcome.train_loss,
        "train_loss_end": outcome.train_loss_end,
        "eval_loss_base": outcome.eval_loss_base,
        "eval_loss": outcome.eval_loss,
        **(
            {}
            if outcome.eval_reward_accuracy is None
            else {"eval_reward_accuracy": outcome.eval_reward_accuracy}
        ),
        "best_step": outcome.best_step,
        **({} if outcome.stopped_early is None else {"stopped_early": outcome.stopped_early}),
        "tokens": outcome.tokens,
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 3),
        "target_modules": ", ".join(outcome.modules),
    }
