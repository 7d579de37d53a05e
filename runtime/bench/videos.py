"""Times videos generated with Diffusers' own Wan pipeline, without the product.

    PYTHONPATH=runtime/src python runtime/bench/videos.py --model DIR

It uses PyTorch's defaults and the folder's steps and guidance. It computes on the CPU in the dtype
with which the product serves the starter, even if the machine has a GPU. Reads prompts from stdin
and prints the seconds from each prompt to its MP4.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers.pipelines.wan.pipeline_wan import WanPipeline
from timed_prompts import time_prompts

from bakehouse_runtime.device import serving_dtype
from bakehouse_runtime.image.sentence_encoder import SENTENCE_WINDOW
from bakehouse_runtime.image.text import load_sentence_encoder
from bakehouse_runtime.image.video import Video
from bakehouse_runtime.image.video_file import encode_video


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    options = parser.parse_args()
    index = json.loads((options.model / "model_index.json").read_text())
    size = index["film"]
    encoder, tokenizer = load_sentence_encoder(SENTENCE_WINDOW)
    pipeline: Any = WanPipeline.from_pretrained(
        options.model,
        text_encoder=encoder,
        tokenizer=tokenizer,
        torch_dtype={"default": serving_dtype("cpu"), "vae": torch.float32},
    )
    pipeline.set_progress_bar_config(disable=True)

    def generate(prompt: str) -> None:
        frames = pipeline(
            prompt=prompt, width=size["width"], height=size["height"], num_frames=size["frames"],
            num_inference_steps=index["default_steps"], guidance_scale=index["default_guidance"],
            max_sequence_length=SENTENCE_WINDOW,
        ).frames[0]  # fmt: skip
        encode_video(Video((frames * 255).round().astype(np.uint8), size["fps"]), {})

    time_prompts(generate, "a red apple spins")


if __name__ == "__main__":
    main()
