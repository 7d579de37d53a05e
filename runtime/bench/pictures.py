"""Times pictures generated with the plain Paris pipeline, without the product around it.

    PYTHONPATH=runtime/src python runtime/bench/pictures.py --model DIR [--steps 20]

It uses PyTorch's defaults, and computes on the CPU in the dtype with which the product serves the
starter, even if the machine has a GPU. Reads prompts from stdin and prints the seconds from each
prompt to its PNG.
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path

import torch
from timed_prompts import time_prompts

from bakehouse_runtime.device import serving_dtype
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    paris = ParisPipeline.from_folder(options.model, torch.device("cpu"), serving_dtype("cpu"))

    def generate(prompt: str) -> None:
        request = ParisRequest(prompt, seed=0, steps=options.steps)
        paris.generate([request])[0].media.save(BytesIO(), format="PNG")

    time_prompts(generate, "")


if __name__ == "__main__":
    main()
