"""A small training: a tiny model, learnable rows, and a process to kill."""

from __future__ import annotations

import multiprocessing
import os
import signal
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakehouse_runtime.protocol import DataSpec, TextLoraSpec, TrainTextSpec
from tiny_model import write_tiny_gguf

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakehouse_server import BakehouseServer

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def questions() -> list[tuple[str, str]]:
    """Returns forty questions, with one answer per number."""
    forms = ["Which number is {}?", "Say {}!", "How do you write {}?", "Tell me {} please."]
    return [
        (form.format(number), f"It is {i + 1}, the {number}th loaf.")
        for i, number in enumerate(NUMBERS)
        for form in forms
    ]


def data_spec(file_path: str, **changes: Any) -> DataSpec:
    """Returns the spec of a small file with the columns q and a."""
    return DataSpec.model_validate(
        {
            "file_path": file_path,
            "input_column": "q",
            "output_column": "a",
            "segmentation_method": "regex",
            "max_chunk_size": 64,
            "stride": 8,
            "min_segment_length": 4,
            "train_test_split": 0.8,
            "seed": 1,
        }
        | changes
    )


def train_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any
) -> TrainTextSpec:
    rows = "".join(f'{question},"{answer}"\n' for question, answer in questions())
    inputs = [
        server.add_folder("base_model", model),
        {"name": "dataset", "files": [server.add_input(f"q,a\n{rows}".encode(), "rows.csv")]},
    ]
    lora = {"r": 8, "alpha": 16.0, "dropout": 0.05, "target_modules": LINEAR}
    changes = parameters.pop("lora", {})
    return TrainTextSpec.model_validate(
        server.workload(tmp_path, inputs)
        | {
            "kind": "train",
            "method": "lora",
            "title": "Numbers of loaves",
            "base_model_title": "Tiny Llama",
            "dataset_title": "Loaves",
            "device": "cpu",
            "data": {
                "file_path": "rows.csv",
                "input_column": "q",
                "output_column": "a",
                "segmentation_method": "regex",
                "max_chunk_size": 128,
                "stride": 8,
                "min_segment_length": 4,
                "train_test_split": 0.8,
                "seed": 3,
            },
            "parameters": {
                "epochs": 4,
                "learning_rate": 0.01,
                "batch_size": 4,
                "eval_batch_size": 8,
                "gradient_accumulation_steps": 1,
                # None: all weights are trained.
                "lora": None if changes is None else lora | changes,
            }
            | parameters,
        }
    )


def with_base_gguf(
    server: BakehouseServer, tmp_path: Path, spec: TrainTextSpec, model: Path
) -> TrainTextSpec:
    """Returns the run with a base that has a GGUF."""
    file = server.add_input(write_tiny_gguf(model, tmp_path / "tiny.gguf"), "tiny.gguf")
    told = spec.model_dump(mode="json")
    return TrainTextSpec.model_validate(
        told | {"inputs": [*told["inputs"], {"name": "base_gguf", "files": [file]}]}
    )


def adapter_of(spec: TrainTextSpec) -> TextLoraSpec:
    assert spec.parameters.lora is not None
    return spec.parameters.lora


def run(path: Path) -> None:
    """Runs `pull SPEC.json` and `train SPEC.json` like the command line."""
    import sys

    from bakehouse_runtime.cli import main

    cache = str(path.with_name("cache"))
    sys.exit(main(["pull", "--cache", cache, str(path)]) or main(["train", str(path)]))


def _before_step(step: int, act: Callable[[], None]) -> None:
    """Makes the trainers of this process call `act` at the start of the step."""
    from transformers.trainer_callback import CallbackHandler

    begin = CallbackHandler.on_step_begin

    def on_step_begin(self: Any, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        if state.global_step == step - 1:
            act()
        return begin(self, args, state, control, **kwargs)

    CallbackHandler.on_step_begin = on_step_begin


def run_until(step: int, path: Path) -> None:
    """As `run`, but sends SIGTERM within the given step."""
    _before_step(step, lambda: os.kill(os.getpid(), signal.SIGTERM))
    run(path)


def _run_up_to(step: int, target: Callable[[Path], None], path: Path) -> None:
    _before_step(step, signal.pause)
    target(path)


def start(spec: TrainTextSpec, target: Callable[[Path], None] = run) -> BaseProcess:
    """Starts a training in its own process."""
    path = Path(spec.work_dir).with_suffix(".json")
    path.write_text(spec.model_dump_json())
    return fork(target, path)


def fork(target: Callable[..., None], *arguments: Path) -> BaseProcess:
    """Starts a process, forked from a process that has loaded the libraries."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["train_spec", "bakehouse_runtime.train.lora.trainer"])
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


def finish(process: BaseProcess, timeout_s: float = 300.0) -> int | None:
    process.join(timeout_s)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode


def kill_at_checkpoint(
    server: BakehouseServer,
    spec: TrainTextSpec,
    step: int,
    target: Callable[[Path], None] = run,
) -> None:
    """Starts a training and kills it when the server knows the checkpoint of a step; the training
    runs at most four steps further."""
    process = start(spec, partial(_run_up_to, step + 5, target))
    when(server, "checkpoint", step, lambda: os.kill(process.pid or 0, signal.SIGKILL))
    assert finish(process) == -signal.SIGKILL


def build(spec: TrainTextSpec, model: Path, tmp_path: Path) -> Any:
    """Returns the trainer of a spec with data in `tmp_path`, before its first step."""
    from bakehouse_runtime.train.lora.run import read_inputs
    from bakehouse_runtime.train.lora.trainer import build_trainer

    targets, prepared = read_inputs(spec, model, tmp_path)
    return build_trainer(
        spec, model, tmp_path / "checkpoints", prepared, targets.modules, "cpu", 32, []
    )


def curve(server: BakehouseServer, name: str) -> dict[int, float]:
    """Returns the reported values of a curve by step."""
    return {
        report["step"]: report["values"][name]
        for report in server.of_type("metrics")
        if name in report["values"]
    }


def losses(server: BakehouseServer) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for report in server.of_type("metrics"):
        if "loss" in report["values"]:
            found.setdefault(report["step"], []).append(report["values"]["loss"])
    return found


def when(server: BakehouseServer, kind: str, step: int, act: Any) -> None:
    """Calls `act` once, as soon as a report of that kind and at least that step arrives."""

    def watch(report: dict[str, Any]) -> None:
        if report["type"] == kind and report.get("step", 0) >= step:
            server.on_report = lambda _: None
            act()

    server.on_report = watch
