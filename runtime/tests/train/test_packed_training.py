"""Tests training on packed rows: they do not attend to each other, and the loss is the same as for
single rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora.run import read_inputs
from train_spec import finish, losses, questions, start, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def build(
    server: BakehouseServer, tmp_path: Path, model: Path, *, text: bool = False, **parameters: Any
) -> Any:
    """Returns a trainer in float32, to avoid rounding."""
    from bakehouse_runtime.train.lora import trainer

    lora = {"dropout": 0.0} | parameters.pop("lora", {})
    spec = train_spec(server, tmp_path, model, lora=lora, **parameters)
    rows = "\n".join(f'Number {at}?,"{"so " * (at % 7)}there."' for at in range(40))
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}\n")
    if text:
        changes = {"format": "text", "output_column": None, "input_column": "a"}
        spec = spec.model_copy(update={"data": spec.data.model_copy(update=changes)})
    targets, prepared = read_inputs(spec, model, tmp_path)
    settings = trainer.settings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "settings", lambda *a, **k: settings(*a, **k) | {"bf16": False})
        return trainer.build_trainer(
            spec, model, tmp_path / "checkpoints", prepared, targets.modules, "cpu", 32, []
        )


def moved(trainer: Any) -> Any:
    """Gives the adapter non-zero weights."""
    torch.manual_seed(1)
    for name, weight in trainer.model.named_parameters():
        if "lora_B" in name:
            weight.data.normal_(std=0.05)
    return trainer


@pytest.mark.parametrize("kind", ["answers", "text", "head"])
def test_packed_rows_have_the_loss_and_gradients_of_single_rows(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, tiny_model: Path, kind: str
) -> None:
    model = tiny_model if kind == "head" else tied_model
    lora = {"target_modules": ["q_proj", "lm_head"]} if kind == "head" else {}
    found: list[tuple[float, dict[str, Any]]] = []
    for packing in (False, True):
        trainer = moved(
            build(server, tmp_path, model, text=kind == "text", packing=packing, lora=lora)
        )
        rows = list(trainer.train_dataset)
        assert ("seq_lengths" in rows[0]) == packing
        batches = [trainer.data_collator(rows[at : at + 3]) for at in range(0, len(rows), 3)]
        if packing:
            assert len(rows) <= 12
            assert max(len(row["seq_lengths"]) for row in rows) >= 3
        # Counts the positions that have a previous token in their row.
        count = sum(int((batch["labels"][:, 1:] != -100).sum()) for batch in batches)
        total = 0.0
        for batch in batches:
            loss = trainer.compute_loss(trainer.model, dict(batch), num_items_in_batch=count)
            loss.backward()
            total += float(loss.detach())
        gradients = {
            name: weight.grad.clone()
            for name, weight in trainer.model.named_parameters()
            if weight.requires_grad
        }
        found.append((total, gradients))
    (single, of_single), (packed, of_packed) = found
    assert packed == pytest.approx(single, rel=1e-6)
    for name, gradient in of_single.items():
        assert torch.allclose(gradient, of_packed[name], rtol=1e-4, atol=1e-6), name


def test_gpu_trainer_computes_the_same_and_leaking_rows_do_not(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from bakehouse_runtime.train.lora.objectives import sft

    ours = moved(build(server, tmp_path, tied_model, packing=True))
    batch = ours.data_collator(list(ours.train_dataset)[:4])
    ours.model.eval()
    with torch.no_grad():
        loss = float(ours.compute_loss(ours.model, dict(batch)))
        leaking = {name: value for name, value in batch.items() if name != "position_ids"}
        assert abs(float(ours.compute_loss(ours.model, leaking)) - loss) > 1e-3
    trl: Any = sft._SftTrainer(
        ours.model,
        args=ours.args,
        train_dataset=ours.train_dataset,
        eval_dataset=ours.eval_dataset,
        data_collator=ours.data_collator,
        processing_class=ours.processing_class,
    )
    trl.model.eval()
    assert float(trl.compute_loss(trl.model, dict(batch))) == pytest.approx(loss, rel=1e-5)


def test_rejects_a_model_that_does_not_isolate_rows(tied_model: Path) -> None:
    from transformers import AutoModelForCausalLM

    from bakehouse_runtime.train.lora.isolation import require_isolation

    model = AutoModelForCausalLM.from_pretrained(tied_model)
    require_isolation(model, "cpu")
    forward = model.forward

    def without_positions(position_ids: Any = None, **inputs: Any) -> Any:
        return forward(**inputs)

    model.forward = without_positions
    with pytest.raises(PlainError, match="does not keep rows apart that share a sequence"):
        require_isolation(model, "cpu")

    def unknown(input_ids: Any, use_cache: bool) -> Any:
        return forward(input_ids=input_ids, use_cache=use_cache)

    model.forward = unknown
    with pytest.raises(PlainError, match="switch packing off"):
        require_isolation(model, "cpu")


def test_a_packed_run_learns_in_fewer_steps_and_reports_it(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = train_spec(server, tmp_path, tied_model, packing=True, batch_size=2, epochs=6)
    assert finish(start(spec)) == 0
    result = server.reports[-1]
    assert result["type"] == "result"
    steps = len(losses(server))
    assert steps == result["summary"]["steps"] < 60
    assert result["summary"]["eval_loss"] < 0.5 * result["summary"]["eval_loss_base"]
    # Padding is not counted, although it uses the end-of-answer token.
    rows = "".join(f'{question},"{answer}"\n' for question, answer in questions())
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")
    _, prepared = read_inputs(spec, tied_model, tmp_path)
    assert result["summary"]["tokens"] == 6 * prepared.train.lengths().sum()
    card = (server.artefacts / "README.md").read_text()
    assert "| Packing | short rows share a sequence |" in card
