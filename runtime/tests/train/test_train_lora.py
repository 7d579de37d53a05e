from __future__ import annotations

import contextlib
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.errors import StopRequested
from bakehouse_runtime.protocol import TrainTextSpec
from bakehouse_runtime.train.cadence import Cadence
from bakehouse_runtime.train.lora.checkpoints import last_checkpoint
from bakehouse_runtime.train.lora.run import read_inputs
from train_spec import (
    LINEAR,
    build,
    finish,
    kill_at_checkpoint,
    losses,
    questions,
    start,
    train_spec,
    when,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

FILES = {
    "README.md",
    "adapter.gguf",
    "adapter_config.json",
    "adapter_model.safetensors",
    "chat_template.jinja",
    "tokenizer.json",
    "tokenizer_config.json",
}


def held_out_losses(server: BakehouseServer) -> dict[int, float]:
    return {
        report["step"]: report["values"]["eval_loss"]
        for report in server.of_type("metrics")
        if "eval_loss" in report["values"]
    }


def test_a_run_learns_reports_and_exports_its_files(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from safetensors.numpy import load_file

    spec = train_spec(
        server, tmp_path, tied_model, lora={"target_modules": [*LINEAR, "lm_head", "w1"]}
    )
    assert finish(start(spec)) == 0

    assert [report["phase"] for report in server.of_type("phase")] == [
        "pulling inputs",
        "reading data",
        "loading model",
        "evaluating",
        *["training", "evaluating"] * 4,
        "asking both models",
        "saving",
        "uploading",
    ]
    result = server.reports[-1]
    assert result["type"] == "result"
    assert {file["path"] for file in result["files"]} == FILES
    assert {file.name for file in server.artefacts.iterdir()} == FILES
    summary = result["summary"]
    assert summary["steps"] == 32
    assert summary["peak_memory_bytes"] > 100_000_000
    assert summary["target_modules"] == ", ".join(LINEAR)
    assert sorted(losses(server)) == list(range(1, 33))
    assert list(held_out_losses(server)) == [0, 8, 16, 24, 32]
    assert held_out_losses(server)[0] == pytest.approx(summary["eval_loss_base"])
    assert held_out_losses(server)[32] == pytest.approx(summary["eval_loss"])
    assert summary["eval_loss"] < 0.5 * summary["eval_loss_base"]
    each = [values[-1] for _, values in sorted(losses(server).items())]
    assert summary["train_loss"] == pytest.approx(sum(each) / 32)
    assert summary["train_loss_end"] == pytest.approx(sum(each[-3:]) / 3)
    assert summary["tokens"] == server.of_type("metrics")[-2]["values"]["num_tokens"]
    steps = [one for one in server.of_type("progress") if one["unit"] == "steps"]
    assert (steps[-1]["done"], steps[-1]["total"]) == (32, 32)

    log = "\n".join(report["line"] for report in server.of_type("log"))
    assert "lm_head is left out" in log
    assert "no modules named w1" in log
    config = json.loads((server.artefacts / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] is None
    assert sorted(config["target_modules"]) == sorted(LINEAR)
    tensors = load_file(server.artefacts / "adapter_model.safetensors")
    assert len(tensors) == 2 * len(LINEAR) * 2
    card = (server.artefacts / "README.md").read_text()
    assert "base_model:" not in card
    assert "A LoRA adapter for Tiny Llama, trained on Loaves" in card
    assert "Examples: 32 trained on, 8 held out" in card
    assert f"| with this adapter | {summary['eval_loss']:.4f} |" in card
    assert "| LoRA | rank 8, alpha 16, dropout 0.05 |" in card
    longest = re.search(r"\| Longest example \| (\d+) tokens \|", card)
    assert longest is not None
    assert 20 < int(longest[1]) < spec.data.max_chunk_size
    assert re.search(r"\| Duration of the training steps alone \| \d+ (s|min \d+ s) \|", card)
    assert str(tmp_path) not in card + json.dumps(config)


def test_a_run_of_one_step_learns(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    write_rows(tmp_path / "rows.csv")
    spec = train_spec(server, tmp_path, tied_model, epochs=1, batch_size=32)
    trainer = build(spec, tied_model, tmp_path)
    assert trainer.train().global_step == 1
    # An adapter starts with a B of zeros, which changes nothing.
    assert all(b.any() for name, b in trainer.model.named_parameters() if "lora_B" in name)


def test_a_killed_run_resumes_from_its_last_checkpoint_with_the_same_losses(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = train_spec(server, tmp_path, tied_model)
    kill_at_checkpoint(server, spec, 8)
    # A checkpoint that was being written when the kill came.
    torn = tmp_path / "work" / "checkpoints" / "checkpoint-9999"
    torn.mkdir()
    (torn / "trainer_state.json").write_text("{")

    assert finish(start(spec)) == 0
    assert not torn.exists()
    found = losses(server)
    assert sorted(found) == list(range(1, 33))
    assert all(len(set(values)) == 1 for values in found.values())
    assert server.reports[-1]["summary"]["steps"] == 32
    assert 0 in held_out_losses(server)

    # The same run, never killed.
    (tmp_path / "again").mkdir()
    killed = {step: values[-1] for step, values in found.items()}
    server.reports.clear()
    assert finish(start(train_spec(server, tmp_path / "again", tied_model))) == 0
    assert {step: values[0] for step, values in losses(server).items()} == killed


@pytest.mark.soak
def test_a_stopped_run_saves_its_work_and_resumes(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = train_spec(server, tmp_path, tied_model, epochs=12)

    def stop() -> None:
        server.command = "stop"

    when(server, "metrics", 10, stop)
    assert finish(start(spec)) == 0
    stopped = server.reports[-1]
    assert stopped["type"] == "stopped"
    saved = last_checkpoint(tmp_path / "work" / "checkpoints")
    assert saved is not None
    assert 10 <= saved.step == stopped["step"] < 96
    assert max(losses(server)) == saved.step

    server.command = "continue"
    assert finish(start(spec)) == 0
    assert server.reports[-1]["type"] == "result"
    assert all(len(set(values)) == 1 for values in losses(server).values())
    assert sorted(losses(server)) == list(range(1, 97))


class Listener:
    """A fake Reporter that requests a stop when the evaluation of a step starts."""

    def __init__(self, stop_at: int | None) -> None:
        self.stop_at = stop_at
        self.stop_requested = False
        self.step = 0
        self.phases: list[str] = []
        self.eval_loss: dict[int, float] = {}

    def phase(self, phase: str) -> None:
        self.phases.append(phase)
        self.stop_requested = phase == "evaluating" and self.step == self.stop_at

    def progress(self, done: int, *_: Any) -> None:
        self.step = done

    def metrics(self, step: int, values: dict[str, float]) -> None:
        if "eval_loss" in values:
            self.eval_loss[step] = values["eval_loss"]

    def checkpoint(self, step: int) -> None:
        pass


def test_evaluates_a_run_on_its_validation_file(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    held_out = b'q,a\nWhich number is eleven?,"It is 11, the eleventh loaf."\n'
    spec = train_spec(server, tmp_path, tied_model, epochs=1)
    fields = spec.model_dump()
    fields["inputs"].append(
        {"name": "validation", "files": [server.add_input(held_out, "held.csv")]}
    )
    fields["data"]["validation_path"] = "held.csv"
    assert finish(start(TrainTextSpec.model_validate(fields))) == 0

    # All forty rows in batches of four; without the file, eight of them would be held out.
    assert server.reports[-1]["summary"]["steps"] == 10
    assert list(held_out_losses(server)) == [0, 10]
    (answers,) = server.of_type("held_out_answers")
    assert [row["question"] for row in answers["rows"]] == ["Which number is eleven?"]
    card = (server.artefacts / "README.md").read_text()
    assert "Examples: 40 trained on, 1 of a validation file." in card
    assert "| | loss on the validation file |" in card
    assert '"name": "Validation file"' in card


def test_repeats_a_stopped_evaluation_on_resume(
    server: BakehouseServer,
    tmp_path: Path,
    tied_model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bakehouse_runtime.train.lora.callback import TrainingCallback
    from bakehouse_runtime.train.lora.trainer import build_trainer

    spec = train_spec(server, tmp_path, tied_model, epochs=3)
    write_rows(tmp_path / "rows.csv")
    targets, prepared = read_inputs(spec, tied_model, tmp_path)

    def live(folder: str, stop_at: int | None) -> Listener:
        listener: Any = Listener(stop_at)
        trainer = build_trainer(
            spec,
            tied_model,
            tmp_path / folder,
            prepared,
            targets.modules,
            "cpu",
            24,
            [TrainingCallback(listener, 8, lambda _: None)],
        )
        saved = last_checkpoint(tmp_path / folder)
        with contextlib.suppress(StopRequested):
            trainer.train(resume_from_checkpoint=str(saved.path) if saved else None)
        return listener

    whole = live("whole", None)
    assert list(whole.eval_loss) == [8, 16, 24]
    # Training progress is saved once before the end, whether a checkpoint was due or not.
    for folder, is_due in (("early", True), ("parts", False)):
        monkeypatch.setattr(Cadence, "is_due", lambda *_, is_due=is_due, **__: is_due)
        stopped = live(folder, 8)
        assert (stopped.step, stopped.eval_loss) == (8, {})
        saved = last_checkpoint(tmp_path / folder)
        assert saved is not None
        assert saved.step == 8
    # A second stop in the same evaluation defers it again.
    assert live("parts", 0).eval_loss == {}
    resumed = live("parts", None)
    assert resumed.phases == ["evaluating", "training", "evaluating", "training", "evaluating"]
    assert resumed.eval_loss == whole.eval_loss


def test_does_not_load_weights_that_are_no_safetensors(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    import torch
    from safetensors.torch import load_file

    from bakehouse_runtime.train.lora.trainer import build_trainer

    spec = train_spec(server, tmp_path, tied_model)
    write_rows(tmp_path / "rows.csv")
    targets, prepared = read_inputs(spec, tied_model, tmp_path)
    pickled = tmp_path / "pickled"
    shutil.copytree(tied_model, pickled)
    weights = load_file(pickled / "model.safetensors")
    (pickled / "model.safetensors").unlink()
    torch.save(weights, pickled / "pytorch_model.bin")
    with pytest.raises(OSError, match="safetensors"):
        build_trainer(spec, pickled, tmp_path, prepared, targets.modules, "cpu", 1, [])


def write_rows(path: Path) -> None:
    rows = "".join(f'{question},"{answer}"\n' for question, answer in questions())
    path.write_text(f"q,a\n{rows}")


def test_sigterm_saves_the_work(server: BakehouseServer, tmp_path: Path, tied_model: Path) -> None:
    process = start(train_spec(server, tmp_path, tied_model, epochs=50))
    when(server, "metrics", 5, process.terminate)
    assert finish(process) == 0
    assert server.reports[-1]["type"] == "stopped"
    saved = last_checkpoint(tmp_path / "work" / "checkpoints")
    assert saved is not None
    assert saved.step == server.reports[-1]["step"]


def test_a_stop_before_training_keeps_the_downloads(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    server.command = "stop"
    spec = train_spec(server, tmp_path, tied_model)
    spec.inputs[1].files.extend(
        type(spec.inputs[1].files[0]).model_validate(server.add_input(bytes([i]), f"{i}"))
        for i in range(200)
    )
    assert finish(start(spec)) == 0
    assert server.reports[-1]["type"] == "stopped"
    assert server.reports[-1]["step"] == 0


@pytest.mark.soak
def test_exits_if_the_server_no_longer_knows_it(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    process = start(train_spec(server, tmp_path, tied_model, epochs=50))
    when(server, "metrics", 5, lambda: server.faults.append(410))
    assert finish(process) == 0
    assert server.reports[-1]["type"] != "result"


def test_trains_lm_head_if_it_is_not_shared(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path
) -> None:
    from gguf import GGUFReader
    from safetensors.numpy import load_file

    spec = train_spec(
        server,
        tmp_path,
        tiny_model,
        gradient_accumulation_steps=2,
        lora={"target_modules": ["q_proj", "lm_head"], "r": 3, "alpha": 7.5},
    )
    assert finish(start(spec)) == 0
    summary = server.reports[-1]["summary"]
    assert summary["steps"] == 16
    assert summary["eval_loss"] < summary["eval_loss_base"]
    tensors = load_file(server.artefacts / "adapter_model.safetensors")
    # Only the adapter: neither the base's lm_head nor its embeddings.
    assert sum("lm_head" in name for name in tensors) == 2
    assert len(tensors) == 6
    reader = GGUFReader(server.artefacts / "adapter.gguf")
    assert {tensor.name for tensor in reader.tensors} >= {
        "output.weight.lora_a",
        "output.weight.lora_b",
    }
    checkpoint = last_checkpoint(tmp_path / "work" / "checkpoints")
    assert checkpoint is not None
    assert set(load_file(checkpoint.path / "adapter_model.safetensors")) == set(tensors)


def test_reports_unusable_data_in_one_sentence(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spec = train_spec(server, tmp_path, tied_model)
    data = spec.data.model_copy(update={"input_column": "question"})
    assert finish(start(spec.model_copy(update={"data": data}))) == 1
    assert server.reports[-1]["type"] == "failed"
    said = "rows.csv has no column question. Its columns are: q, a."
    assert server.reports[-1]["message"] == said


@pytest.mark.parametrize("count", [None, 17])
def test_loss_matches_trl(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path, count: int | None
) -> None:
    """Computed only at the trained positions, through lm_head's module, it is the same number."""
    import torch
    from trl.trainer.sft_trainer import SFTTrainer

    from bakehouse_runtime.data.examples import prepare_examples
    from bakehouse_runtime.data.tokens import read_model_tokens
    from bakehouse_runtime.train.lora.trainer import build_trainer

    spec = train_spec(server, tmp_path, tiny_model)
    data = tmp_path / "rows.csv"
    data.write_text("q,a\none,a long answer with many words\ntwo words,short\nthree,so so\n")
    prepared = prepare_examples(data, spec.data, read_model_tokens(tiny_model), 256)
    items = None if count is None else torch.tensor(count)
    ours = []
    trls = None
    for modules in (["q_proj"], ["q_proj", "lm_head"]):
        trainer = build_trainer(spec, tiny_model, tmp_path, prepared, modules, "cpu", 1, [])
        model: Any = trainer.model
        model.float()
        batch = next(iter(trainer.get_train_dataloader()))
        ours.append(trainer.compute_loss(model, dict(batch), num_items_in_batch=items))
        if isinstance(trainer, SFTTrainer):
            trls = SFTTrainer.compute_loss(trainer, model, dict(batch), num_items_in_batch=items)
    # An untrained adapter changes nothing.
    for loss in ours:
        torch.testing.assert_close(loss, trls, rtol=1e-4, atol=1e-5)
