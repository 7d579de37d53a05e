"""Tests that training on twenty pictures of one style changes the starter's output. The judge is a
classifier of colours and edges that saw none of the pictures, and the effect must be absent without
the adapter or with an adapter of another style.

With the preset 'style' for a small model, on one CPU thread (27 November 2026: 218 s alone, 488 s
next to other work), 24 of 24 pictures have the style with the adapter, none at strength 0 and none
with the adapter of the other style, which draws 16 of 24 in its own.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw, ImageFilter

from bakehouse_runtime.device import serving_dtype
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.lora import ChosenLora

from .test_runs import spec_file, train

if TYPE_CHECKING:
    from bakehouse_server import BakehouseServer

STARTER = Path(__file__).parents[3] / "models" / "starter-kontext"
ADAPTER = "pytorch_lora_weights.safetensors"
COLOURS = ("red", "green", "blue", "orange", "purple", "yellow")
THINGS = ("ball", "house", "tree", "box", "star")
TARGETS = [
    "attn.to_q", "attn.to_k", "attn.to_v", "attn.to_out.0", "attn.add_q_proj", "attn.add_k_proj",
    "attn.add_v_proj", "attn.to_add_out", "ff.net.0.proj", "ff.net.2", "ff_context.net.0.proj",
    "ff_context.net.2", "proj_mlp",
]  # fmt: skip
PROMPTS = (
    "a red apple",
    "a small cat",
    "a blue automobile",
    "a house",
    "a green umbrella",
    "a tree",
)
SEEDS = range(4)
STYLES = ("chalk", "paper")


def outline(thing: str, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Returns the corners of a thing, at a random place in the picture."""
    size, (x, y) = rng.uniform(22, 38), rng.uniform(50, 78, 2)
    corners = {
        "ball": [(np.cos(a), np.sin(a)) for a in np.linspace(0, 6.28, 40)],
        "house": [(-1, 1), (-1, -0.2), (0, -1), (1, -0.2), (1, 1)],
        "tree": [(-0.2, 1), (-0.2, 0.4), (-0.9, 0.4), (0, -1), (0.9, 0.4), (0.2, 0.4), (0.2, 1)],
        "box": [(-1, -0.8), (1, -0.8), (1, 0.8), (-1, 0.8)],
        "star": [
            (r * np.sin(a), -r * np.cos(a))
            for r, a in zip([1, 0.4] * 5, np.linspace(0, 5.65, 10), strict=True)
        ],
    }[thing]
    return [(x + size * dx, y + size * dy) for dx, dy in corners]


def drawn(style: str, thing: str, colour: str, rng: np.random.Generator) -> Image.Image:
    """Draws in a style. Chalk: lines on a dark board. Paper: flat shapes with a shadow on warm
    paper."""
    points = outline(thing, rng)
    if style == "chalk":
        picture = Image.new("RGB", (128, 128), (22, 48, 42))
        draw = ImageDraw.Draw(picture)
        for _ in range(3):
            shaken = [(x + rng.normal(0, 1), y + rng.normal(0, 1)) for x, y in points]
            draw.line([*shaken, shaken[0]], fill="white", width=2)
        for offset in range(-120, 240, 9):
            draw.line([(offset, 128), (offset + 128, 0)], fill=(40, 70, 62))
        draw.line([*points, points[0]], fill=colour, width=1)
        return picture
    picture = Image.new("RGB", (128, 128), (236, 205, 150))
    shadow = Image.new("L", picture.size)
    ImageDraw.Draw(shadow).polygon([(x + 6, y + 6) for x, y in points], fill=150)
    picture.paste((120, 84, 50), mask=shadow.filter(ImageFilter.GaussianBlur(3)))
    ImageDraw.Draw(picture).polygon(points, fill=colour)
    return picture


def write_set(folder: Path, style: str) -> Path:
    folder.mkdir()
    rng = np.random.default_rng(7)
    for number in range(20):
        thing, colour = THINGS[number % 5], COLOURS[number % 6]
        drawn(style, thing, colour, rng).save(folder / f"{number}.png")
        (folder / f"{number}.txt").write_text(f"a {colour} {thing}")
    return folder


def features(picture: Image.Image) -> np.ndarray:
    values = np.asarray(picture.resize((64, 64)), dtype=np.float64)
    bins = (values // 64).astype(int) @ (16, 4, 1)
    colours = np.bincount(bins.ravel(), minlength=64) / bins.size
    steps = np.abs(np.diff(values.mean(axis=2))).ravel()
    edges = np.histogram(steps, bins=(0, 2, 5, 10, 20, 40, 80, 256))[0] / steps.size
    return np.concatenate([colours, edges, [1.0]])


class Judge:
    """A linear classifier of the two styles and of the base's own pictures."""

    def __init__(self, plain: list[Image.Image]) -> None:
        rng = np.random.default_rng(99)
        others = [
            drawn(style, THINGS[number % 5], COLOURS[number // 5 % 6], rng)
            for style in STYLES
            for number in range(len(plain))
        ]
        rows = torch.tensor(np.stack([features(one) for one in [*others, *plain]])).float()
        labels = torch.arange(3).repeat_interleave(len(plain))
        self._linear = torch.nn.Linear(rows.shape[1], 3)
        optimizer = torch.optim.AdamW(self._linear.parameters(), lr=0.05, weight_decay=0.01)
        for _ in range(300):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self._linear(rows), labels).backward()
            optimizer.step()

    def share(self, pictures: list[Image.Image], style: str) -> float:
        rows = torch.tensor(np.stack([features(one) for one in pictures])).float()
        named = self._linear(rows).argmax(dim=1)
        return float((named == STYLES.index(style)).float().mean())


@pytest.mark.soak
def test_twenty_pictures_of_a_style_change_the_output(
    tmp_path: Path, server: BakehouseServer
) -> None:
    files: dict[str, Path] = {}
    for style in STYLES:
        work = tmp_path / style
        work.mkdir()
        dataset = write_set(work / "pictures", style)
        spec = spec_file(
            work, server, {"base_model": STARTER, "dataset": dataset}, method="flux",
            lora={"r": 16, "alpha": 16, "dropout": 0, "target_modules": TARGETS},
            data={"metadata_path": None, "trigger_word": "zwk", "seed": 42},
            parameters={
                "steps": 400, "learning_rate": 0.002, "batch_size": 8, "checkpoint_every": 400,
            },
        )  # fmt: skip
        began, used = time.monotonic(), time.process_time()
        server.reports.clear()
        assert train(spec) == 0
        wall, cpu = time.monotonic() - began, time.process_time() - used
        print(f"{style}: trained in {wall:.0f} s, {cpu:.0f} s of processors")
        files[style] = (server.artefacts / ADAPTER).rename(work / ADAPTER)
    served = KontextPipeline.from_folder(STARTER, torch.device("cpu"), serving_dtype("cpu"))

    def made(style: str | None, scale: float, seeds: range = SEEDS) -> list[Image.Image]:
        lora = style and ChosenLora(style, files[style], scale)
        asked = [
            KontextRequest(f"zwk, {prompt}" if style else prompt, seed, lora=lora or None)
            for prompt in PROMPTS
            for seed in seeds
        ]
        return [one.media for one in served.generate(asked)]

    judge = Judge(made(None, 0, range(100, 110)))
    shares = {
        name: judge.share(made(style, scale), "chalk")
        for name, (style, scale) in {
            "with it": ("chalk", 1.0),
            "at strength 0": ("chalk", 0.0),
            "with the other": ("paper", 1.0),
        }.items()
    }
    print(shares, judge.share(made("paper", 1.0), "paper"))
    assert shares["with it"] >= 0.8
    assert shares["at strength 0"] <= 0.1
    assert shares["with the other"] <= 0.1
