"""Tests a run of several processes, as on several GPUs: here two on the CPU, over Gloo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from bakehouse_runtime.errors import MachineError, PlainError
from bakehouse_runtime.train.lora.objectives.grpo import GRPO
from bakehouse_runtime.train.lora.ranks import follow, launch
from bakehouse_runtime.train.lora.ranks.share import SharedRows, share_batch, shared_settings
from ended_ranks import fails, leaves
from preferences import dpo_spec, grpo_spec, kto_spec
from train_spec import curve, finish, run, run_until, start, train_spec, when

if TYPE_CHECKING:
    from bakehouse_runtime.protocol import TrainTextSpec
    from bakehouse_server import BakehouseServer

# 32 rows in steps of 6: the last step of an epoch has two rows, both for the first process.
_UNEVEN: dict[str, Any] = {
    "epochs": 2,
    "batch_size": 3,
    "eval_batch_size": 3,
    "gradient_accumulation_steps": 2,
    "lora": {"dropout": 0.0},
}
_DIGITS = {"type": "pattern", "pattern": "[0-9]", "weight": 1.0}
_CURVES = ("loss", "eval_loss", "grad_norm", "learning_rate")


def _on(gpus: int, spec: TrainTextSpec) -> TrainTextSpec:
    return spec.model_copy(update={"gpus": gpus})


@pytest.mark.soak
def test_two_processes_match_one_and_resume_from_each_other(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    (tmp_path / "one").mkdir()
    alone = train_spec(server, tmp_path / "one", tied_model, **_UNEVEN)
    assert finish(start(alone)) == 0
    expected = {name: curve(server, name) for name in _CURVES}
    assert list(expected["loss"]) == list(range(1, 13))
    assert list(expected["eval_loss"]) == [0, 6, 12]

    server.reports.clear()
    spec = train_spec(server, tmp_path, tied_model, **_UNEVEN)
    # The last part starts within the second epoch, whose rows have another order.
    for gpus, target in ((2, partial(run_until, 3)), (1, partial(run_until, 7)), (2, run)):
        assert finish(start(_on(gpus, spec), target)) == 0, gpus
    assert [report["step"] for report in server.of_type("stopped")] == [3, 7]
    for name, points in expected.items():
        assert curve(server, name) == pytest.approx(points, rel=1e-4), name
    assert server.reports[-1]["type"] == "result"


@pytest.mark.soak
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        # The processes compare a KTO batch with other answers, and generate other GRPO answers.
        (dpo_spec, {"loss": 8, "eval_loss": 3, "eval_reward_accuracy": 3}),
        (kto_spec, {"eval_loss": 1, "eval_reward_margin": 1}),
        (grpo_spec, {"eval_reward": 1}),
    ],
    ids=["dpo", "kto", "grpo"],
)
def test_two_processes_train_on_preferences_and_rewards(
    server: BakehouseServer,
    tmp_path: Path,
    tied_model: Path,
    make: Any,
    expected: dict[str, int],
) -> None:
    curves: list[dict[str, list[float]]] = []
    for gpus in (1, 2):
        folder = tmp_path / str(gpus)
        folder.mkdir()
        server.reports.clear()
        rewards = [[_DIGITS]] if make is grpo_spec else []
        spec = make(
            server,
            folder,
            tied_model,
            *rewards,
            epochs=2,
            learning_rate=3e-4,
            lora={"dropout": 0.0},
        )
        assert finish(start(_on(gpus, spec))) == 0
        assert server.reports[-1]["type"] == "result"
        curves.append({name: list(curve(server, name).values()) for name in expected})
    for name, points in expected.items():
        one, two = (found[name] for found in curves)
        # Batches of other sizes are rounded differently in bfloat16.
        assert two[:points] == pytest.approx(one[:points], rel=0.02, abs=1e-6), name
        assert len(one) == len(two)


@pytest.mark.soak
def test_the_run_ends_with_any_of_its_processes(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = train_spec(server, tmp_path, tied_model, epochs=200, eval_batch_size=1)
    path = tmp_path / "spec.json"
    path.write_text(_on(2, spec).model_dump_json())
    runtime = [sys.executable, "-m", "bakehouse_runtime"]
    command = [*runtime, "pull", "--cache", str(tmp_path / "cache"), str(path), *runtime, "train"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.Popen(
        [*command, str(path)], env=environment, stderr=subprocess.PIPE, text=True
    )

    def kill_follower() -> None:
        os.kill(_follower_of(process.pid), signal.SIGKILL)

    when(server, "metrics", 2, kill_follower)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1
    assert errors.splitlines()[-1] == "Process 2 of 2 was ended by SIGKILL."
    assert server.of_type("failed") == [], "it is tried again, as after any kill"


def _follower_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return next(
        int(child)
        for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    )


@pytest.mark.parametrize(
    ("does", "said"),
    [(fails, "The file is upside down."), (leaves, "Process 2 of 2 ended with status 3")],
)
def test_a_run_fails_with_the_error_of_the_failed_process(
    monkeypatch: pytest.MonkeyPatch, does: Any, said: str
) -> None:
    monkeypatch.setattr(launch, "_start", does)
    followers = launch._Followers(SimpleNamespace(), 2, 0, {})  # type: ignore[arg-type]
    try:
        # Another thread reads the exit status of the process, so do not join the process here.
        wait([followers._processes[0].sentinel])
        assert str(followers.cause()) == said
    finally:
        followers.kill()


def test_errors_mean_the_same_in_the_first_process() -> None:
    assert isinstance(follow._to_send(torch.OutOfMemoryError()), MemoryError)
    assert isinstance(follow._to_send(OSError(28, "No space left on device")), MachineError)
    assert str(follow._to_send(KeyError("x"))) == "KeyError: 'x'"


@pytest.mark.parametrize(
    ("batch", "accumulation", "gpus", "shared"),
    [(1, 4, 2, (1, 2)), (8, 1, 4, (2, 1)), (3, 2, 2, (3, 1)), (6, 2, 4, (3, 1)), (4, 3, 2, (3, 2))],
)
def test_a_step_has_as_many_rows_on_any_number_of_gpus(
    batch: int, accumulation: int, gpus: int, shared: tuple[int, int]
) -> None:
    assert share_batch(batch, accumulation, gpus) == shared
    assert shared[0] * shared[1] * gpus == batch * accumulation and shared[0] <= batch


def test_rejects_a_step_that_cannot_be_shared(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    with pytest.raises(
        PlainError, match=r"8 GPUs cannot share the 4 rows of a step .* a multiple of 8"
    ):
        share_batch(1, 4, 8)
    parameters = train_spec(server, tmp_path, tied_model, objective="kto").parameters
    with pytest.raises(PlainError, match=r"each of 4 GPUs would get one: .* of 8 or more\."):
        shared_settings(parameters, 4)
    assert shared_settings(parameters, 1) == {}


def test_processes_share_prompts_not_their_answers(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    parameters = grpo_spec(server, tmp_path, tied_model, [_DIGITS]).parameters
    settings = {"output_dir": str(tmp_path), "use_cpu": True, "bf16": False, "report_to": "none"}
    arguments: Any = GRPO.arguments(parameters, settings | shared_settings(parameters, 2))
    assert arguments.per_device_train_batch_size == 2 * parameters.generations


def test_rows_have_the_order_of_one_process_and_fill_all_batches() -> None:
    from accelerate.data_loader import SeedableRandomSampler

    alone = SeedableRandomSampler(range(10), data_seed=3)
    shared = SharedRows(10, 4, seed=3, blank=10)
    for epoch in (0, 1):
        alone.set_epoch(epoch)
        shared.set_epoch(epoch)
        assert list(shared) == [*alone, 10, 10]
    assert len(shared) == 12 and list(SharedRows(3, 4, None)) == [0, 1, 2, 0]
