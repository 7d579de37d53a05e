"""Caches the measured pictures: generating them takes most of the time, and another judge can reuse
them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch
from PIL import Image

from bakehouse_runtime import image
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_runtime.image.paris.sampling import Strategy

from .held_out import Prompt

DRAWN_AT_ONCE = 20
K = 2


def drawn(
    paris: ParisPipeline, prompts: Sequence[Prompt], strategy: Strategy, kept: Path
) -> list[Image.Image]:
    """Returns one picture per prompt, from the cache below `kept` if the same weights, code and
    settings generated it."""
    folder = kept / f"{_digest(paris)}-{strategy}"
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for start in range(0, len(prompts), DRAWN_AT_ONCE):
        part = prompts[start : start + DRAWN_AT_ONCE]
        paths = [folder / f"{_name(prompt)}.png" for prompt in part]
        if not all(path.exists() for path in paths):
            requests = [ParisRequest(one.text, one.seed, strategy=strategy, k=K) for one in part]
            for path, made in zip(paths, paris.generate(requests), strict=True):
                partial = path.with_suffix(".partial")
                made.media.save(partial, "PNG")
                partial.replace(path)
        for path in paths:
            with Image.open(path) as picture:
                pictures.append(picture.convert("RGB"))
    return pictures


def _digest(paris: ParisPipeline) -> str:
    dtype = str(paris.experts[0].pos_embed.dtype)
    router = type(paris.router).__name__
    steps, guidance = paris.defaults.steps, paris.defaults.guidance
    settings = (router, dtype, steps, guidance, paris.guidance_interval, K)
    digest = hashlib.sha256(repr(settings).encode())
    for source in sorted(Path(image.__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    for part in (*paris.experts, paris.router, paris.family.autoencoder):
        for weights in part.state_dict().values():
            digest.update(weights.detach().cpu().to(torch.float32).contiguous().numpy().data)
    return digest.hexdigest()[:16]


def _name(prompt: Prompt) -> str:
    text = hashlib.sha256(prompt.text.encode()).hexdigest()[:8]
    return f"{prompt.seed}-{text}"
