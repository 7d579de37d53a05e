"""Measures the training tokens per second of the product's trainer or of a plain TRL script.

    PYTHONPATH=runtime/src python runtime/bench/train.py --run ours|bare --model DIR [--full]

Both train an adapter, or all weights, on the same rows in the same order with the same settings.
Prints the speed and the loss of each step as JSON; equal losses show that both did the same work.
Padding does not count as tokens. The speed excludes the first two steps, which allocate memory.
`./bakehouse bench` runs both alternately, each in the environment that it has in real use.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import TrainerCallback

FACTS = Path(__file__).parents[2] / "examples" / "bakehouse-facts.csv"
WARM_UP_STEPS = 2
EPOCHS = 3
BATCH = 8
RANK = 16
LEARNING_RATE = 1e-3
FULL_LEARNING_RATE = 1e-4
MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder with safetensors")
    parser.add_argument("--data", type=Path, default=FACTS, help="csv: question,answer")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--full", action="store_true", help="train all weights")
    parser.add_argument("--run", choices=["ours", "bare"], required=True)
    options = parser.parse_args()
    print(json.dumps({"ours": ours, "bare": bare}[options.run](options)))


def clock(steps: int) -> tuple[TrainerCallback, dict[str, float]]:
    """Returns a callback that ends training after some steps, and the dict that it fills with its
    measurements."""
    from transformers import TrainerCallback

    measured = {"tokens": 0.0, "seconds": 0.0}

    class Clock(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step == WARM_UP_STEPS:
                self.started = time.perf_counter()
                self.tokens = state.num_input_tokens_seen
            elif state.global_step == WARM_UP_STEPS + steps:
                measured["seconds"] = time.perf_counter() - self.started
                measured["tokens"] = state.num_input_tokens_seen - self.tokens
                control.should_training_stop = True

    return Clock(), measured


def result(trainer: Any, measured: dict[str, float]) -> dict[str, Any]:
    """Returns tokens per second, and the loss of each step."""
    losses = [point["loss"] for point in trainer.state.log_history if "loss" in point]
    return {"per_second": measured["tokens"] / measured["seconds"], "losses": losses}


def ours(options: argparse.Namespace) -> dict[str, Any]:
    """Measures the product's trainer with its callback and reporter, as in a run."""
    from bakehouse_runtime.data.examples import prepare_examples, steps_per_epoch
    from bakehouse_runtime.data.tokens import read_model_tokens
    from bakehouse_runtime.device import choose_device, use_all_cores
    from bakehouse_runtime.protocol import ReportsAnswer, TrainTextSpec
    from bakehouse_runtime.reporter import Reporter
    from bakehouse_runtime.server_client import ServerClient
    from bakehouse_runtime.train.lora.callback import TrainingCallback
    from bakehouse_runtime.train.lora.trainer import build_trainer

    class Listener(ServerClient):
        accepted = 0

        def post_reports(self, reports: list[dict[str, Any]]) -> ReportsAnswer:
            json.dumps(reports)
            self.accepted += len(reports)
            return ReportsAnswer(accepted_seq=self.accepted, command="continue")

    spec = TrainTextSpec.model_validate(specification(options))
    use_all_cores()
    prepared = prepare_examples(
        options.data, spec.data, read_model_tokens(options.model), None, holds_out=False
    )
    per_epoch = steps_per_epoch(len(prepared.train), BATCH, 1)
    timer, measured = clock(options.steps)
    with tempfile.TemporaryDirectory() as folder, Reporter(Listener("w", "http://none", "t")) as to:
        trainer = build_trainer(
            spec,
            options.model,
            Path(folder),
            prepared,
            [] if options.full else MODULES,
            choose_device("auto"),
            per_epoch * EPOCHS,
            [TrainingCallback(to, per_epoch, lambda _: None), timer],
        )
        trainer.train()
    return result(trainer, measured)


def bare(options: argparse.Namespace) -> dict[str, Any]:
    """Measures a script written after TRL's documentation, with the fastest settings for this
    machine."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    cpu = not torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32 if cpu or options.full else torch.bfloat16
    )
    adapter = LoraConfig(
        r=RANK,
        lora_alpha=2 * RANK,
        lora_dropout=0.05,
        target_modules=MODULES,
        task_type="CAUSAL_LM",
    )
    timer, measured = clock(options.steps)
    with options.data.open() as file:
        rows = [
            {
                "prompt": [{"role": "user", "content": row["question"]}],
                "completion": [{"role": "assistant", "content": row["answer"]}],
            }
            for row in csv.DictReader(file)
        ]
    with tempfile.TemporaryDirectory() as folder:
        trainer = SFTTrainer(
            model,
            args=SFTConfig(
                output_dir=folder,
                num_train_epochs=EPOCHS,
                learning_rate=FULL_LEARNING_RATE if options.full else LEARNING_RATE,
                lr_scheduler_type="cosine",
                per_device_train_batch_size=BATCH,
                max_length=512,
                loss_type="nll",
                bf16=not cpu or computes_bfloat16(),
                use_cpu=cpu,
                activation_checkpointing=not cpu,
                logging_steps=1,
                save_strategy="no",
                include_num_input_tokens_seen="non_padding",
                dataloader_pin_memory=not cpu,
                disable_tqdm=True,
                report_to="none",
            ),
            train_dataset=Dataset.from_list(rows),
            processing_class=AutoTokenizer.from_pretrained(options.model),
            peft_config=None if options.full else adapter,
            callbacks=[timer],
        )
        trainer.train()
    return result(trainer, measured)


def computes_bfloat16() -> bool:
    """Returns whether the processor has bfloat16 instructions. Without them float32 is many times
    faster."""
    from torch import cpu

    flags = cpu.get_capabilities()
    return any(flags.get(name) is True for name in ("amx_bf16", "avx512_bf16", "bf16"))


def specification(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "protocol": 1,
        "workload_id": "bench",
        "server": {"base_url": "http://none", "token": "t"},
        "work_dir": "bench",
        "inputs_dir": "bench",
        "inputs": [],
        "kind": "train",
        "method": "lora",
        "title": "bench",
        "base_model_title": "bench",
        "dataset_title": "bench",
        "device": "auto",
        "data": {
            "file_path": options.data.name,
            "input_column": "question",
            "output_column": "answer",
            "segmentation_method": "regex",
            "max_chunk_size": 512,
            "stride": 50,
            "min_segment_length": 15,
            "train_test_split": 0.95,
            "seed": 42,
        },
        "parameters": {
            "epochs": EPOCHS,
            "learning_rate": FULL_LEARNING_RATE if options.full else LEARNING_RATE,
            "batch_size": BATCH,
            "eval_batch_size": BATCH,
            "gradient_accumulation_steps": 1,
            # TRL's default.
            "warmup_ratio": 0.0,
            "lora": None
            if options.full
            else {
                "r": RANK,
                "alpha": 2.0 * RANK,
                "dropout": 0.05,
                "target_modules": MODULES,
            },
        },
    }


if __name__ == "__main__":
    main()
