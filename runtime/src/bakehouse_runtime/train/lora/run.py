"""Fine-tunes a causal language model with TRL: a LoRA adapter with PEFT, or all weights."""

from __future__ import annotations

import json
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ...base_model import max_generated_tokens, read_base_model, require_packable, trained_modules
from ...confined import run_confined
from ...data.examples import steps_per_epoch
from ...data.prepared import has_references
from ...data.tokens import read_model_tokens
from ...data.validation_file import prepare_files
from ...device import (
    choose_device,
    device_name,
    peak_memory,
    require_devices,
    use_all_cores,
)
from ...errors import PlainError, StoppedEarly, StopRequested
from ...files import inside, read_optional_object, write_json
from ...rewards.rules import build_rules
from ...workload import CHECKPOINTS_FOLDER, workload
from ..cadence import Cadence
from ..checkpoint_artefact import CheckpointArtefact, restore_checkpoint
from .checkpoints import drop_earlier, last_checkpoint
from .export import export, stored_dtype
from .outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import torch
    from transformers import Trainer

    from ...base_model import LoraTargets
    from ...data.prepared import Prepared
    from ...protocol import TrainTextSpec
    from ...reporter import Reporter
    from ...workload import Workload
    from .best import Best, BestWeights
    from .callback import TrainingCallback
    from .checkpoints import Checkpoint
    from .ranks.group import Ranks


# Seconds between uploads of a full fine-tune's checkpoint; an upload takes as long as many steps.
_WHOLE_AFTER_S = 600.0
_BASE_EVALUATION = "base_evaluation.json"
# Held-out answers of the base model, generated before a full fine-tune changes it.
_BASE_ANSWERS = "base_answers.json"
_BEST_ADAPTER = "best_adapter.safetensors"
_BEST_MODEL = "best_model.safetensors"
# Fields of an outcome that only some objectives measure.
_REWARDS = ("eval_reward_base", "eval_reward", "eval_reward_accuracy", "eval_reward_margin")


def run(spec: TrainTextSpec) -> int:
    """Trains from the start or the last checkpoint until done or stopped.

    Returns exit status 0 when the result is uploaded or the work is saved for later.
    """
    with workload(spec, "choose a smaller batch size, chunk size or rank") as work:
        work.reporter.log(f"Training {spec.title} on {spec.dataset_title}.")
        _run(spec, work)
    return 0


def _run(spec: TrainTextSpec, work: Workload) -> None:
    reporter = work.reporter
    inputs = _inputs(spec, work)
    restore_checkpoint(work)
    targets, prepared = _read(spec, inputs, reporter)
    parameters = spec.parameters
    epoch_steps = steps_per_epoch(
        len(prepared.trained_lengths(packing=parameters.packing)),
        parameters.batch_size,
        parameters.gradient_accumulation_steps,
    )
    reporter.phase("loading model")
    from .held_out import generate_base_answers, report_held_out_answers
    from .ranks.launch import train_together
    from .trainer import build_trainer

    use_all_cores(spec.gpus)
    device = choose_device(spec.device)
    require_devices(device, spec.gpus)
    checkpoints = work.work_dir / CHECKPOINTS_FOLDER
    is_whole = parameters.lora is None
    dtype = stored_dtype(inputs["base_model"]) if is_whole else None
    best_weights = _best_weights(work, len(prepared.held_out), dtype)
    cadence = Cadence(time.monotonic(), _WHOLE_AFTER_S, _WHOLE_AFTER_S) if is_whole else None
    on_server = CheckpointArtefact(work, cadence)
    build: dict[str, Any] = {
        "spec": spec,
        "base": inputs["base_model"],
        "checkpoints": checkpoints,
        "prepared": prepared,
        "modules": targets.modules,
        "device": device,
        "steps_total": epoch_steps * parameters.epochs,
    }
    held_out = len(prepared.held_out) > 0
    try:
        with train_together(work, spec.gpus, build) as ranks:
            callback = _callback(spec, work, epoch_steps, best_weights, on_server, ranks)
            trainer = build_trainer(**build, callbacks=[callback], ranks=ranks)
            if held_out:
                reporter.metrics(0, {"held_out_rows": len(prepared.held_out)})
            base = _base_measures(trainer, reporter, work.work_dir) if held_out else {}
            if is_whole and held_out:
                generate_base_answers(trainer, prepared, reporter, work.work_dir / _BASE_ANSWERS)
            _train(trainer, callback, reporter, last_checkpoint(checkpoints))
            if held_out:
                _measure_last(trainer, reporter)
        best = best_weights.restore(trainer.model, trainer.state.global_step)
        if dtype is not None:
            _round_to(dtype, trainer.model)
        base_answers = work.work_dir / _BASE_ANSWERS
        report_held_out_answers(trainer, prepared, reporter, work.work_dir, base_answers)
    except StopRequested:
        on_server.upload_last()
        _log_stopped(reporter, checkpoints)
        return

    outcome = _outcome(
        trainer, callback, base, best, targets, prepared, device_name(device, spec.gpus)
    )
    _log_kept(outcome, reporter, "weights" if is_whole else "adapter")
    reporter.phase("saving", counted=False)
    out = work.work_dir / "outputs"
    for warning in export(trainer.model, spec, inputs, out, prepared, outcome):
        reporter.log(f"Note: {warning}")
    peak = peak_memory(device)
    memory = {} if peak is None else {"peak_memory_bytes": peak}
    reporter.result(work.upload(out), _summary(outcome) | memory)


def _inputs(spec: TrainTextSpec, work: Workload) -> dict[str, Path]:
    inputs = work.inputs()
    validation = ["validation"] if spec.data.validation_path else []
    for name in ("base_model", "dataset", *validation):
        if name not in inputs:
            raise PlainError(f"The spec has no input {name}.")
    return inputs


def _callback(
    spec: TrainTextSpec,
    work: Workload,
    epoch_steps: int,
    best_weights: BestWeights,
    on_server: CheckpointArtefact,
    ranks: Ranks,
) -> TrainingCallback:
    from .callback import TrainingCallback

    parameters = spec.parameters
    return TrainingCallback(
        work.reporter,
        epoch_steps,
        _to_server(work, on_server, is_whole=parameters.lora is None),
        best_weights.record,
        best_weights.save,
        eval_steps=parameters.eval_steps,
        patience=parameters.early_stopping_patience if best_weights.chooses else 0,
        ranks=ranks,
    )


def _best_weights(work: Workload, held_out: int, dtype: torch.dtype | None) -> BestWeights:
    """Returns the store for the best weights: all weights in `dtype`, or the adapter if it is None.
    Logs a warning if too few rows are held out to choose a best step."""
    from .best import CHOOSING_ROWS_MIN, BestWeights

    chooses = held_out >= CHOOSING_ROWS_MIN
    if not chooses and held_out > 0:
        work.reporter.log(
            f"Fewer than {CHOOSING_ROWS_MIN} rows are held out, too few to choose a step by: the "
            f"{'weights' if dtype else 'adapter'} of the last step {'are' if dtype else 'is'} kept."
        )
    file = work.work_dir / (_BEST_MODEL if dtype else _BEST_ADAPTER)
    return BestWeights(file, chooses=chooses, dtype=dtype)


def _round_to(dtype: torch.dtype, model: Any) -> None:
    """Rounds the weights to their stored dtype, so that held-out answers use the exported
    weights."""
    for weight in model.parameters():
        weight.data.copy_(weight.data.to(dtype))


def _log_kept(outcome: Outcome, reporter: Reporter, what: str) -> None:
    """Logs an early stop, and the exported step if it is not the last step."""
    is_paid = outcome.eval_reward is not None
    measure, gain, best = ("reward", "rise", "highest") if is_paid else ("loss", "fall", "lowest")
    if outcome.stopped_early is not None:
        reporter.log(
            f"The held-out {measure} did not {gain} in {outcome.stopped_early} evaluations: "
            f"training stopped early, at step {outcome.steps} of {outcome.steps_total}."
        )
    if outcome.best_step is not None and outcome.best_step != outcome.steps:
        reporter.log(
            f"The held-out {measure} was {best} at step {outcome.best_step}: the {what} of that "
            f"step {'are' if what == 'weights' else 'is'} kept."
        )


def _read(
    spec: TrainTextSpec, inputs: dict[str, Path], reporter: Reporter
) -> tuple[LoraTargets, Prepared]:
    """Returns the trained modules and the examples; logs their warnings."""
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


def _log_stopped(reporter: Reporter, checkpoints: Path) -> None:
    saved = last_checkpoint(checkpoints)
    reporter.stopped(saved.step if saved else 0)


def _to_server(
    work: Workload, on_server: CheckpointArtefact, *, is_whole: bool
) -> Callable[[Path], None]:
    """Returns a function that uploads a checkpoint with the files that a run measures only once."""
    names = (_BASE_EVALUATION, _BASE_ANSWERS, _BEST_ADAPTER, _BEST_MODEL)
    files = [work.work_dir / name for name in names]

    def saved(checkpoint: Path) -> None:
        if is_whole:
            # A checkpoint takes twelve bytes per weight.
            drop_earlier(checkpoint)
        on_server.upload([checkpoint, *(file for file in files if file.exists())])

    return saved


def read_inputs(
    spec: TrainTextSpec, base_model: Path, dataset: Path, validation: Path | None = None
) -> tuple[LoraTargets, Prepared]:
    """Returns the modules that get an adapter, and the examples. The files are untrusted: call this
    in a process with limits."""
    data = spec.data
    base = read_base_model(base_model)
    parameters = spec.parameters
    targets = trained_modules(base, parameters)
    if parameters.packing:
        require_packable(read_optional_object(base_model / "config.json"), parameters.objective)
    tokens = read_model_tokens(base_model, data.date)
    path = inside(dataset, data.file_path)
    held_out = (
        inside(validation, data.validation_path) if validation and data.validation_path else None
    )
    prepared = prepare_files(
        path,
        held_out,
        data,
        tokens,
        base.max_positions,
        objective=parameters.objective,
        max_generated_tokens=max_generated_tokens(parameters),
    )
    if parameters.objective == "grpo":
        build_rules(parameters.rewards, has_references=has_references(prepared))
    return targets, prepared


def _train(
    trainer: Trainer, callback: TrainingCallback, reporter: Reporter, saved: Checkpoint | None
) -> None:
    """Trains to the last step or an early stop. Raises StopRequested if stopped before that."""
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


def _base_measures(trainer: Trainer, reporter: Reporter, work_dir: Path) -> dict[str, float]:
    """Evaluates the base model on the held-out rows. The result is stored, so that a restarted run
    does not repeat it."""
    from .callback import held_out_measures

    evaluation_file = work_dir / _BASE_EVALUATION
    if evaluation_file.exists():
        measured = held_out_measures(json.loads(evaluation_file.read_text(encoding="utf-8")))
        reporter.metrics(0, measured)
    else:
        reporter.phase("evaluating")
        measured = held_out_measures(trainer.evaluate())
        write_json(evaluation_file, measured)
    return measured


def _measure_last(trainer: Trainer, reporter: Reporter) -> None:
    """Measures the held-out loss at the last step, unless it was measured before a restart."""
    from .callback import held_out_loss

    step, history = trainer.state.global_step, trainer.state.log_history
    if not any(held_out_loss(one) is not None and one["step"] == step for one in history):
        reporter.phase("evaluating")
        trainer.evaluate()


def _outcome(
    trainer: Trainer,
    callback: TrainingCallback,
    base: dict[str, float],
    best: Best | None,
    targets: LoraTargets,
    prepared: Prepared,
    device: str,
) -> Outcome:
    from .callback import evaluations_without_gain

    state = trainer.state
    ended_early = state.global_step < state.max_steps
    losses = [point["loss"] for point in state.log_history if "loss" in point]
    return Outcome(
        train_loss=_mean(losses),
        train_loss_end=_mean(losses[-max(1, len(losses) // 10) :]),
        eval_loss_base=base.get("eval_loss"),
        eval_loss=best.eval_loss if best and "eval_loss" in base else None,
        eval_reward_base=base.get("eval_reward"),
        eval_reward=-best.eval_loss if best and "eval_reward" in base else None,
        eval_reward_accuracy=_measured_at(state.log_history, best, "eval_reward_accuracy"),
        eval_reward_margin=_measured_at(state.log_history, best, "eval_reward_margin"),
        best_step=best.step if best else None,
        tokens=state.num_input_tokens_seen,
        steps=state.global_step,
        steps_total=state.max_steps,
        stopped_early=evaluations_without_gain(state.log_history) if ended_early else None,
        seconds=callback.seconds,
        device=device,
        modules=targets.modules,
        warnings=[*targets.warnings, *prepared.warnings],
        history=state.log_history,
    )


def _measured_at(history: list[dict[str, Any]], best: Best | None, name: str) -> float | None:
    """Returns the measurement at the best step, or None if the objective does not report it."""
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
        **{name: value for name in _REWARDS if (value := getattr(outcome, name)) is not None},
        "best_step": outcome.best_step,
        **({} if outcome.stopped_early is None else {"stopped_early": outcome.stopped_early}),
        "tokens": outcome.tokens,
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 3),
        **({"target_modules": ", ".join(outcome.modules)} if outcome.modules else {}),
    }
