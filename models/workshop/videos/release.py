"""Turns finished video trainings into the shipped folder, its figures and its card."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from diffusers.models.transformers.transformer_wan import WanTransformer3DModel

from bakehouse_runtime.image.video import Video
from bakehouse_runtime.image.wan.pipeline import VideoPipeline, VideoRequest
from bakehouse_runtime.image.wan.size import VIDEO_KEY

from ..recipe import Recipe
from ..training_records import training_table, update_records
from .figures import TRAINED_OBJECTS, sample_sheet
from .scenes import MOTIONS, OBJECTS
from .steps import trained_video_autoencoder
from .transformer import export_wan

SAMPLE_FRAMES = 9
SAMPLE_PROMPTS = (
    "a red apple moves to the right",
    "a lemon moves up on a blue background",
    "a soccer ball jumps on grass",
    "a taxi comes nearer",
    "a duck moves to the left",
    "a frog spins",
    "a whale goes away on a white background",
    "a red heart shakes",
)
ROWS = {
    "real": "real videos",
    "reconstructions": "reconstructions, the ceiling",
    "made": "from a prompt",
    "from_picture": "from a prompt and the first picture",
    "still": "a still picture, which must fail",
    "shuffled": "shuffled frames, which must fail",
    "other_caption": "a video of another caption, which must fail",
}
COLUMNS = (
    *("motion_right", "direction_right", "speed", "change"),
    *("named_first", "named_middle", "named_last", "named_throughout"),
)

CARD = """---
license: apache-2.0
library_name: diffusers
pipeline_tag: text-to-video
tags: [wan, flow-matching]
---
# Starter Wan

A small video model with the architecture of Wan 2.2 TI2V. `WanPipeline` and
`WanImageToVideoPipeline` load it with all-MiniLM-L6-v2 and its tokenizer as `text_encoder` and
`tokenizer`, and `max_sequence_length={window}`. {side} px, {frames} frames, {fps} per second, no
sound, {weights:.1f} MB in half precision. It runs on a CPU.

It knows {objects} objects ({names}) and {motions} motions ({words}), on plain backgrounds, on grass
and in the sky. The figures below show its quality.

## Training
{training}

The training videos are drawn scenes with captions. One combination in ten (object with motion,
object with background) was never trained on. The objects are from the same sources, with the same
licenses, as in the starter image models.

## Figures
Measured on {count} captions that were never trained on.

- `motion right`: the share of videos with the right motion. It is detected from the centre, size,
  rotation and brightness of the object over the frames, as one of {motions} motions or none.
- `direction right`, `speed`: for objects that move in a straight line, the share with the right
  direction, and the distance covered relative to the wanted distance.
- `change`: the change from frame to frame, relative to real videos.
- `named`: the share of videos in which the judge of the image models finds the object the
  likeliest.

{figures}

## Samples
One row per prompt with {sample_frames} frames, seeds 0 to {last}. The videos were not selected.

![samples](samples.png)

{prompts}
"""


def assemble_wan(work: Path, recipe: Recipe, folder: Path, dtype: torch.dtype) -> None:
    """Writes the shipped folder."""
    video, settings = recipe["film"], recipe["defaults"]["starter-wan"]
    told = {
        "width": video["side"],
        "height": video["side"],
        "frames": video["frames"],
        "fps": video["fps"],
        "seconds": video["frames"] / video["fps"],
        TRAINED_OBJECTS: video["objects"],
    }
    trained = WanTransformer3DModel.from_pretrained(work / "wan" / "model" / "transformer")
    defaults = {name: value for name, value in settings.items() if name.startswith("default_")}
    export_wan(
        trained,
        trained_video_autoencoder(work).cpu(),
        folder,
        dtype,
        settings["shift"],
        defaults | {VIDEO_KEY: told},
    )


def write_wan_card(work: Path, recipe: Recipe, folder: Path) -> None:
    """Writes README.md and samples.png, with the figures that `measure` wrote."""
    figures = json.loads((folder / "figures.json").read_text())
    video = recipe["film"]
    records = update_records(folder, work, recipe, ["film-autoencoder", "wan"])
    weights = sum(path.stat().st_size for path in folder.rglob("*.safetensors")) / 1e6
    (folder / "README.md").write_text(
        CARD.format(
            window=recipe["text_window"],
            side=video["side"],
            frames=video["frames"],
            fps=video["fps"],
            weights=weights,
            objects=video["objects"],
            names=", ".join(OBJECTS[: video["objects"]]),
            motions=len(MOTIONS),
            words=", ".join(motion.words for motion in MOTIONS.values()),
            training=training_table(records),
            count=int(figures["films"]),
            figures=video_table(figures),
            sample_frames=SAMPLE_FRAMES,
            last=len(SAMPLE_PROMPTS) - 1,
            prompts="\n".join(f"{n}. {text}" for n, text in enumerate(SAMPLE_PROMPTS, start=1)),
        )
    )
    wan = VideoPipeline.from_folder(folder, torch.device("cpu"))
    requests = [VideoRequest(text, seed) for seed, text in enumerate(SAMPLE_PROMPTS)]
    videos = [media for one in wan.generate(requests) if isinstance(media := one.media, Video)]
    sample_sheet(videos, SAMPLE_FRAMES).save(folder / "samples.png")


def video_table(figures: dict[str, float]) -> str:
    """Returns one line per kind of videos. Brackets hold 95 % intervals."""
    lines = [
        f"| videos | {' | '.join(name.replace('_', ' ') for name in COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
    ]
    for row, title in ROWS.items():
        cells = []
        for name in COLUMNS:
            key = f"{row}_{name}"
            cell = f"{figures[key]:.2f}" if key in figures else ""
            if f"{key}_low" in figures:
                cell += f" ({figures[f'{key}_low']:.2f} to {figures[f'{key}_high']:.2f})"
            cells.append(cell)
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)
