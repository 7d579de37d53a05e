"""Tests the training loop of all picture trainers, on one layer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.model import Expert, Router
from bakehouse_runtime.image.training.device import fast_arithmetic
from bakehouse_runtime.image.training.loop import Training, hidden_matrices, run_loop

from .line import SETTINGS, Recorder, line_training, run_line
from .tiny import TINY_EXPERT, TINY_ROUTER, untrained_transformer


def no_samples(_: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
    return path, {}


def test_a_stopped_training_resumes_identically(tmp_path: Path) -> None:
    whole = run_line(tmp_path / "whole", Recorder())
    stopped = run_line(tmp_path / "parts", Recorder(stop_after=6))
    assert stopped.step == 5
    resumed = run_line(tmp_path / "parts", Recorder())
    assert resumed.step == whole.step == 12
    for name, weight in whole.trained.items():
        assert torch.equal(resumed.trained[name], weight)
        assert torch.equal(resumed.average[name], whole.average[name])


def test_loop_reports_phases_progress_and_metrics(tmp_path: Path) -> None:
    recorder = Recorder()
    run_line(tmp_path, recorder)
    assert recorder.of("phase") == ["training"]
    assert recorder.of("progress")[-1] == (12, 12, "steps")
    assert recorder.of("checkpoint") == [4, 8, 12]
    losses = recorder.curve("loss")
    assert len(losses) == 6
    assert losses[-1] < losses[0]
    assert recorder.curve("twice") == pytest.approx([2 * loss for loss in losses])
    assert len(recorder.curve("eval_weight")) == 3
    sheets = [path.name for path in recorder.of("samples")]
    assert sheets == ["step-00000004.png", "step-00000008.png", "step-00000012.png"]
    kept = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert kept == ["step-00000008.pt", "step-00000012.pt"]


def test_reports_a_checkpoint_before_its_samples_and_skips_samples_on_stop(tmp_path: Path) -> None:
    recorder = Recorder(stop_after=6)
    assert run_line(tmp_path, recorder).step == 5
    told = [value for kind, value in recorder.reports if kind in {"checkpoint", "samples"}]
    assert told == [4, tmp_path / "samples" / "step-00000004.png", 5]
    assert recorder.curve("eval_weight") == recorder.curve("eval_weight")[:1]
    assert (tmp_path / "checkpoints" / "step-00000005.pt").exists()


def test_learning_rate_warms_up_and_cools_down() -> None:
    training = line_training(replace(SETTINGS, steps=100, warmup_steps=10))
    rates = []
    for step in range(100):
        training.step = step
        rates.append(training.learning_rate())
    assert rates[0] == pytest.approx(0.001)
    assert rates[9:81] == pytest.approx([0.01] * 72)
    assert rates[99] == pytest.approx(0.01 / 20)


def test_rejects_a_checkpoint_of_another_model(tmp_path: Path) -> None:
    run_line(tmp_path, Recorder())
    other = Training(nn.Linear(2, 2), SETTINGS, torch.device("cpu"))
    with pytest.raises(PlainError, match=r"step-00000012\.pt does not belong to this training"):
        other.resume(tmp_path / "checkpoints")


@pytest.mark.parametrize("damage", [lambda content: content[: len(content) // 2], lambda _: b""])
def test_falls_back_to_the_previous_checkpoint_if_one_is_damaged(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    whole = run_line(tmp_path, Recorder())
    older, newest = sorted((tmp_path / "checkpoints").iterdir())
    newest.write_bytes(damage(newest.read_bytes()))
    resumed = line_training()
    resumed.resume(tmp_path / "checkpoints")
    assert resumed.step == 8
    again = run_line(tmp_path, Recorder())
    assert all(torch.equal(again.trained[name], w) for name, w in whole.trained.items())
    for path in (older, newest):
        path.write_bytes(b"not a checkpoint")
    newest_named = r"None .* can be read: the newest is step-00000012\.pt"
    with pytest.raises(PlainError, match=newest_named) as caught:
        line_training().resume(tmp_path / "checkpoints")
    assert caught.value.__cause__ is not None


def test_frees_gradients_before_copying_averaged_weights() -> None:
    training = line_training()
    training.advance(training.model(torch.ones(1, 3)).square().mean())
    assert all(weight.grad is not None for weight in training.trained.values())
    with training.ema_weights():
        assert all(weight.grad is None for weight in training.trained.values())


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes."),
    ],
)
@pytest.mark.parametrize("where", [(torch, "load"), (torch.optim.AdamW, "load_state_dict")])
def test_does_not_blame_the_checkpoint_for_a_lack_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: RuntimeError, where: tuple[object, str]
) -> None:
    run_line(tmp_path, Recorder())

    def run_out(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(*where, run_out)
    with pytest.raises(RuntimeError) as caught:
        line_training().resume(tmp_path / "checkpoints")
    assert caught.value is error


def test_does_not_load_a_checkpoint_onto_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_line(tmp_path, Recorder())
    places: set[str] = set()
    load = torch.load

    def watched(*args: Any, **options: Any) -> dict[str, Any]:
        state = load(*args, **options)
        moments = [state["optimizers"][0]["state"][weight] for weight in (0, 1)]
        for tensors in (state["weights"], state["average"], *moments):
            places.update(tensor.device.type for tensor in tensors.values())
        return state

    monkeypatch.setattr(torch, "load", watched)
    # A meta device simulates the GPU.
    training = Training(nn.Linear(3, 1), SETTINGS, torch.device("meta"))
    training.resume(tmp_path / "checkpoints")
    assert (training.step, places) == (12, {"cpu"})
    moments = training.optimizers[0].state_dict()["state"][0].values()
    kept = [*training.trained.values(), *training.average.values(), *moments]
    assert {tensor.device.type for tensor in kept} == {"meta"}


def test_a_resumed_training_has_the_same_dropout(tmp_path: Path) -> None:
    def run(folder: Path, recorder: Recorder) -> Training:
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.5), nn.Linear(16, 1))
        training = Training(model, SETTINGS, torch.device("cpu"))
        run_loop(
            training,
            folder,
            recorder,
            lambda _: (model(torch.ones(8, 3)).square().mean(), {}),
            no_samples,
        )
        return training

    whole = run(tmp_path / "whole", Recorder())
    assert run(tmp_path / "parts", Recorder(stop_after=6)).step == 5
    torch.rand(7)
    resumed = run(tmp_path / "parts", Recorder())
    assert all(torch.equal(resumed.trained[name], w) for name, w in whole.trained.items())


class Layered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.enter = nn.Linear(3, 8)
        self.layers = nn.ModuleList([nn.Linear(8, 8)])
        self.leave = nn.Linear(8, 1)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.leave(torch.tanh(self.layers[0](torch.tanh(self.enter(inputs)))))


MUON = replace(SETTINGS, optimizer="muon", warmup_steps=1)


def loss_of_layered(training: Training, step: int) -> torch.Tensor:
    inputs = torch.randn(64, 3, generator=torch.Generator().manual_seed(step))
    return (training.model(inputs) - inputs.sum(1, keepdim=True)).square().mean()


def test_hidden_matrices_are_the_matrices_of_repeated_layers() -> None:
    flux = untrained_transformer()
    names = hidden_matrices(flux)
    assert len(names) == 14 + 6
    assert all(name.startswith(("transformer_blocks.", "single_transformer_b")) for name in names)
    parts = ("attn.out_proj", "cross_attn.out_proj", "mlp.0", "mlp.2")
    assert hidden_matrices(Expert(TINY_EXPERT)) == {
        f"layers.{layer}.{part}.weight" for layer in (0, 1) for part in parts
    }
    parts = ("adaLN_modulation.1", "attn.out_proj", "mlp.0", "mlp.2")
    assert hidden_matrices(Router(TINY_ROUTER)) == {f"layers.0.{part}.weight" for part in parts}


def test_muon_updates_hidden_matrices_orthogonally() -> None:
    training = Training(Layered(), MUON, torch.device("cpu"))
    before = {name: weight.detach().clone() for name, weight in training.trained.items()}
    training.advance(loss_of_layered(training, 0))
    moved = {name: weight.detach() - before[name] for name, weight in training.trained.items()}
    gradient, step = (
        torch.linalg.svdvals(matrix)
        for matrix in (training.trained["layers.0.weight"].grad, moved["layers.0.weight"])
    )
    assert gradient[0] > 10 * gradient[3]
    assert step[0] < 2 * step[3]
    # AdamW's steps have about this root mean square, and so has an orthogonal matrix times sqrt(8).
    assert float(step[0]) == pytest.approx(0.2 * 8**0.5 * MUON.learning_rate, rel=0.3)
    # The first step of AdamW has the size of the learning rate everywhere.
    for name in ("enter.weight", "layers.0.bias", "leave.weight"):
        steps = moved[name].abs() / MUON.learning_rate
        assert steps.max() == pytest.approx(1.0, rel=0.01), name


def test_a_resumed_training_with_muon_is_identical(tmp_path: Path) -> None:
    def run(folder: Path, recorder: Recorder) -> Training:
        training = Training(Layered(), MUON, torch.device("cpu"))
        run_loop(
            training,
            folder,
            recorder,
            lambda step: (loss_of_layered(training, step), {}),
            no_samples,
        )
        return training

    recorder = Recorder()
    whole = run(tmp_path / "whole", recorder)
    assert recorder.curve("loss")[-1] < recorder.curve("loss")[0]
    assert run(tmp_path / "parts", Recorder(stop_after=6)).step == 5
    resumed = run(tmp_path / "parts", Recorder())
    assert all(torch.equal(resumed.trained[name], w) for name, w in whole.trained.items())
    with pytest.raises(PlainError, match="does not belong to this training"):
        Training(Layered(), SETTINGS, torch.device("cpu")).resume(tmp_path / "parts/checkpoints")


def test_plain_attention_is_close_to_float32_and_restores_the_switch() -> None:
    allowed = torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed
    before = allowed()
    torch.manual_seed(3)
    query, key, value = torch.randn(3, 2, 4, 32, 16)
    exact = F.scaled_dot_product_attention(query, key, value)
    with pytest.raises(ZeroDivisionError), fast_arithmetic(torch.device("cpu")):
        assert allowed()
        near = F.scaled_dot_product_attention(query.bfloat16(), key.bfloat16(), value.bfloat16())
        torch.testing.assert_close(near.float(), exact, atol=0.03, rtol=0.03)
        raise ZeroDivisionError
    assert allowed() == before


def run_until_broken(folder: Path, step_of_break: int, slope_alone: bool) -> Recorder:
    """Runs a training whose loss, or only its slope, is not finite from a step on."""
    training, recorder = line_training(), Recorder()

    def compute_loss(step: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        made = training.model(torch.ones(1, 3)).sum()
        if step < step_of_break:
            return made.square(), {}
        # The root of zero is finite, its slope is not.
        return ((0 * made).sqrt() if slope_alone else made * float("nan")), {}

    with pytest.raises(PlainError, match=f"stopped being a number at step {step_of_break};"):
        run_loop(training, folder, recorder, compute_loss, no_samples)
    return recorder


@pytest.mark.parametrize("slope_alone", [False, True])
@pytest.mark.parametrize(("step_of_break", "kept"), [(0, []), (5, [4]), (7, [4]), (11, [4, 8])])
def test_fails_on_non_finite_values_without_saving_them(
    tmp_path: Path, step_of_break: int, kept: list[int], slope_alone: bool
) -> None:
    recorder = run_until_broken(tmp_path, step_of_break, slope_alone)
    assert recorder.of("checkpoint") == kept
    saved = sorted(tmp_path.glob("checkpoints/step-*.pt"))
    assert [path.name for path in saved] == [f"step-{step:08d}.pt" for step in kept]
    if saved:
        resumed = line_training()
        resumed.resume(tmp_path / "checkpoints")
        assert all(torch.isfinite(weight).all() for weight in resumed.trained.values())


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.image.line import Recorder, run_line

class Killing(Recorder):
    def checkpoint(self, step):
        if step == 8:
            os.kill(os.getpid(), signal.SIGKILL)

run_line(Path(sys.argv[1]), Killing())
"""


def test_a_killed_training_resumes_from_its_last_checkpoint(tmp_path: Path) -> None:
    whole = run_line(tmp_path / "whole", Recorder())
    root = Path(__file__).parents[2]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "killed")],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    (tmp_path / "killed" / "checkpoints" / "step-00000012.partial").write_bytes(b"half")
    resumed = run_line(tmp_path / "killed", Recorder())
    assert all(torch.equal(resumed.trained[name], w) for name, w in whole.trained.items())
