"""Pictures of the bare Paris pipeline, as a person would generate them without the product.

    PYTHONPATH=runtime/src python runtime/bench/pictures.py --model DIR [--steps 20]

PyTorch has its own defaults, and the device and number format in which the product serves its
starter: the CPU's, also where there is a GPU. Answers a prompt with the seconds that its picture
took, to its PNG.
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
