from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.train.lora.run import read_inputs
from train_spec import LINEAR, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


@pytest.mark.parametrize("modules", [LINEAR, ["q_proj", "lm_head"]], ids=["layers", "head"])
def test_held_out_loss_does_not_depend_on_the_batches(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path, modules: list[str]
) -> None:
    from bakehouse_runtime.train.lora.trainer import build_trainer

    # Long answers repeat themselves, and have other losses than short ones.
    rows = "".join(f"Number {i}?,{'so ' * (i % 5) ** 2}there {i}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")

    def loss(batch_size: int) -> float:
        spec = train_spec(
            server,
            tmp_path,
            tiny_model,
            eval_batch_size=batch_size,
            lora={"target_modules": modules},
        )
        targets, prepared = read_inputs(spec, tiny_model, tmp_path)
        assert len(set(prepared.held_out.lengths().tolist())) > 3
        trainer: Any = build_trainer(
            spec, tiny_model, tmp_path / "out", prepared, targets.modules, "cpu", 1, []
        )
        measured = float(trainer.evaluate()["eval_loss"])
        assert trainer.state.log_history[-1]["eval_loss"] == measured
        return measured

    assert loss(1) == pytest.approx(loss(5), rel=2e-3)
