"""Trains the same run on one GPU and on several, to compare the losses and the speed.

    cd runtime && PYTHONPATH=src:tests python bench/several_gpus.py --model DIR --gpus 2

DIR holds a base model (`python -m bakehouse_runtime prepare smollm2 --format safetensors --out DIR`
writes a small one). Without GPUs it uses processes on the CPU. Prints one line of JSON per number
of GPUs: seconds of steps and evaluations, the first and the last loss, and the held-out losses.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from bakehouse_server import BakehouseServer
from train_spec import curve, train_spec

_RUNTIME = [sys.executable, "-m", "bakehouse_runtime"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder with safetensors")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    options = parser.parse_args()
    for gpus in (1, options.gpus):
        print(json.dumps(measure(options, gpus)), flush=True)


def measure(options: argparse.Namespace, gpus: int) -> dict[str, object]:
    """Trains in separate processes, started like the engine starts them."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with BakehouseServer(folder / "artefacts") as server:
            (folder / "artefacts").mkdir()
            spec = train_spec(
                server,
                folder,
                options.model,
                epochs=options.epochs,
                learning_rate=options.learning_rate,
                batch_size=options.gpus,
                gradient_accumulation_steps=2,
                lora={"dropout": 0.0},
            ).model_copy(update={"gpus": gpus, "device": device})
            file = folder / "spec.json"
            file.write_text(spec.model_dump_json())
            visible = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(gpus)))}
            pull = [*_RUNTIME, "pull", "--cache", str(folder / "cache"), str(file)]
            subprocess.run(
                [*pull, *_RUNTIME, "train", str(file)],
                env=os.environ | visible,
                stdout=sys.stderr,
                check=True,
            )
            losses = curve(server, "loss")
            return {
                "gpus": gpus,
                "seconds": server.reports[-1]["summary"]["seconds"],
                "loss": [losses[min(losses)], losses[max(losses)]],
                "eval_loss": list(curve(server, "eval_loss").values()),
            }


if __name__ == "__main__":
    main()
