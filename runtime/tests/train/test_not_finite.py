"""Tests a training whose loss becomes NaN or infinite."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.errors import PlainError
from train_spec import finish, start, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


@pytest.mark.parametrize(
    ("parameters", "step", "rate"),
    [
        # The first step makes the weights so large that the second overflows.
        ({"learning_rate": 1e38}, 2, "1e+38"),
        # The only step has a finite loss, but makes the weights infinite.
        pytest.param(
            {"learning_rate": 1e39, "epochs": 1, "batch_size": 32},
            1,
            "1e+39",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_a_non_finite_loss_fails_a_run_with_a_remedy(
    server: BakehouseServer,
    tmp_path: Path,
    tied_model: Path,
    parameters: dict[str, Any],
    step: int,
    rate: str,
) -> None:
    assert finish(start(train_spec(server, tmp_path, tied_model, **parameters))) == 1
    # The final report of a run: the server does not restart it.
    assert server.reports[-1]["type"] == "failed"
    assert server.reports[-1]["message"] == (
        f"The loss stopped being a number at step {step}; a smaller learning rate than {rate} is "
        "needed."
    )


class Curves:
    """A fake Reporter that stores the points of the curves."""

    def __init__(self) -> None:
        self.points: list[dict[str, float]] = []

    def metrics(self, _: int, values: dict[str, float]) -> None:
        self.points.append(values)


def test_a_step_that_float16_skips_does_not_end_a_run() -> None:
    from bakehouse_runtime.train.lora.callback import TrainingCallback

    curves: Any = Curves()
    callback = TrainingCallback(curves, 8, lambda _: None)
    arguments: Any = SimpleNamespace(learning_rate=0.5)
    state: Any = SimpleNamespace(global_step=7, num_input_tokens_seen=1, log_history=[{}])
    control: Any = None
    skipped = {"loss": 2.0, "grad_norm": float("inf"), "learning_rate": 0.5}
    callback.on_log(arguments, state, control, logs=skipped)
    assert curves.points[0]["loss"] == 2.0
    for loss in (float("nan"), float("inf")):
        with pytest.raises(PlainError, match=r"at step 7; a smaller learning rate than 0\.5 is"):
            callback.on_log(arguments, state, control, logs={"loss": loss})
