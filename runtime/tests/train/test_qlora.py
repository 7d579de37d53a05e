"""Tests QLoRA: a 4-bit base while it trains, and an adapter for the unquantised base. The product
offers it only on GPUs; the computation is the same on a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora import config
from references.alone import COMPARED, COMPARED_ADAPTERS, asked, both, loaded
from references.four_bits import keep_unpacked, run
from train_spec import (
    LINEAR,
    build,
    finish,
    kill_at_checkpoint,
    losses,
    questions,
    start,
    train_spec,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.protocol import Objective, TrainTextSpec
    from bakehouse_server import BakehouseServer


@pytest.fixture
def float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL computes the loss at other positions than our trainers, and bfloat16 would round the sums
    differently."""
    monkeypatch.setattr(config, "has_bfloat16", lambda _: False)


@pytest.fixture(autouse=True)
def unpacked() -> None:
    keep_unpacked()


def qlora_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any
) -> TrainTextSpec:
    return train_spec(server, tmp_path, model, load_in_4bit=True, **parameters)


def built(server: BakehouseServer, tmp_path: Path, model: Path) -> Any:
    rows = "".join(f'{question},"{answer}"\n' for question, answer in questions())
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")
    return build(qlora_spec(server, tmp_path, model), model, tmp_path).model


# Plain TRL casts the adapter to bfloat16, which is undone before training.
@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("objective", COMPARED_ADAPTERS)
def test_losses_match_plain_peft_and_bitsandbytes(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, objective: Objective
) -> None:
    import torch
    from peft import LoraConfig
    from transformers import BitsAndBytesConfig

    from bakehouse_runtime.train.lora.trainer import _widen_trained

    nf4 = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.float32,
    )

    def pair(quantisation: Any) -> Any:
        adapter = LoraConfig(r=8, lora_alpha=16, target_modules=LINEAR, task_type="CAUSAL_LM")
        told = {"load_in_4bit": True, "lora": {"dropout": 0.0}}
        return both(
            server, tmp_path, tied_model, objective, adapter, quantisation, _widen_trained, **told
        )

    names, steps = COMPARED[objective]
    pair(nf4).assert_same(*names, steps=steps)
    with pytest.raises(AssertionError):
        pair(None).assert_same(*names, steps=steps)


@pytest.mark.usefixtures("float32")
def test_quantises_only_the_linear_layers(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path
) -> None:
    import torch
    from bitsandbytes.nn import Linear4bit

    model = built(server, tmp_path, tiny_model)
    quantised = {
        name: module for name, module in model.named_modules() if isinstance(module, Linear4bit)
    }
    assert len(quantised) == 2 * len(LINEAR)
    for module in quantised.values():
        weight: Any = module.weight
        state = weight.quant_state
        assert (state.quant_type, state.nested, state.blocksize) == ("nf4", True, 64)
    base = model.get_base_model()
    assert base.get_input_embeddings().weight.dtype == torch.float32
    assert base.lm_head.weight.dtype == torch.float32
    trained = {weight.dtype for weight in model.parameters() if weight.requires_grad}
    assert trained == {torch.float32}


def test_the_exported_adapter_fits_the_unquantised_base(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoTokenizer

    assert finish(start(qlora_spec(server, tmp_path, tied_model, epochs=12), run)) == 0
    left = server.artefacts
    assert {file.name for file in left.iterdir()} == {
        "README.md",
        "adapter.gguf",
        "adapter_config.json",
        "adapter_model.safetensors",
        "chat_template.jinja",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    summary = server.reports[-1]["summary"]
    assert summary["eval_loss"] < 0.5 * summary["eval_loss_base"]
    (answers,) = server.of_type("held_out_answers")
    assert all(row["base"] != row["tuned"] for row in answers["rows"])
    card = (left / "README.md").read_text()
    assert "A QLoRA adapter for Tiny Llama, trained on Loaves" in card
    assert "| Base model while training | 4 bits (NF4, double quantization) |" in card

    tokenizer: Any = AutoTokenizer.from_pretrained(left)

    def loss(model: Any) -> float:
        """Over all answers, rendered by the chat template."""
        found = []
        for question, answer in questions():
            said = [*asked(question), {"role": "assistant", "content": answer}]
            whole, prompt = (
                tokenizer.apply_chat_template(turns, return_tensors="pt", return_dict=True)
                for turns in (said, said[:1])
            )
            ids = whole["input_ids"]
            labels = ids.clone()
            labels[:, : prompt["input_ids"].shape[1]] = -100
            with torch.no_grad():
                found.append(model.eval()(input_ids=ids, labels=labels).loss.item())
        return sum(found) / len(found)

    adapted: Any = PeftModel.from_pretrained(loaded(tied_model), str(left))
    learned, before = loss(adapted), loss(loaded(tied_model))
    assert learned < 0.5 * before
    # The same weights in another order have no such effect.
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            weight.data = weight.data.flip(0)
    assert loss(adapted) > 0.8 * before


@pytest.mark.soak
def test_a_killed_run_resumes_with_the_same_losses_and_adapter(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def spec(folder: str) -> TrainTextSpec:
        (tmp_path / folder).mkdir()
        return qlora_spec(server, tmp_path / folder, tied_model, epochs=3)

    def left() -> tuple[Any, ...]:
        found = {step: set(values) for step, values in losses(server).items()}
        return found, (server.artefacts / "adapter_model.safetensors").read_bytes()

    killed = spec("killed")
    kill_at_checkpoint(server, killed, 8, run)
    assert finish(start(killed, run)) == 0
    after = left()
    assert any("Continuing from" in report["line"] for report in server.of_type("log"))

    server.reports.clear()
    assert finish(start(spec("whole"), run)) == 0
    assert left() == after


def test_reports_missing_bitsandbytes(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "find_spec", lambda _: None)
    with pytest.raises(PlainError, match="QLoRA needs bitsandbytes"):
        built(server, tmp_path, tied_model)
