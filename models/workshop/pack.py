"""Packs the trainings into an archive that is small enough to copy to a GPU machine without network
access, and back.

It holds the inputs of the trainings, and the models of finished ones. An unfinished training starts
over there, because its checkpoints are too large. Latents are omitted too: a GPU recomputes them in
minutes.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from safetensors.torch import load_file, save_file

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.sentence_encoder import SENTENCE_PACKAGE, sentence_encoder_folder

from .recipe import Recipe, results
from .scenes.objects import source_files

BARE_BYTES_MAX = 60_000_000
# The package folder of the text encoder in an unpacked work folder.
PACKED_PACKAGES = "site"
TEXT_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
REMADE_STEPS = ("fetch", "latents", "kontext-latents", "film-latents")


def pack(work: Path, recipe: Recipe, archive: Path, bare: bool) -> None:
    """Writes the archive, with weights in 16 bits. For a `bare` machine, without the runtime's
    environment, it includes the text encoder, and must be small. Raises PlainError if it is too
    large."""
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        staged = Path(folder) / "staged"
        for path in (*_sources(work, recipe), *_results(work, recipe)):
            _put(path, staged / path.relative_to(work))
        if bare:
            encoder = staged / PACKED_PACKAGES / SENTENCE_PACKAGE
            for name in TEXT_FILES:
                _put(sentence_encoder_folder() / name, encoder / "model" / name)
            (encoder / "__init__.py").touch()
        packed = Path(folder) / "packed"
        with tarfile.open(packed, "w:gz") as tar:
            for path in sorted(staged.iterdir()):
                tar.add(path, path.name)
        size = packed.stat().st_size
        if bare and size > BARE_BYTES_MAX:
            raise PlainError(
                f"Packed, the trainings take {size / 1e6:.0f} MB, which is more than "
                f"{BARE_BYTES_MAX / 1e6:.0f}."
            )
        packed.replace(archive)


def unpack(archive: Path, work: Path) -> None:
    """Extracts the archive below `work`, and overwrites existing files."""
    work.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        tar.extractall(work, filter="data")


def _sources(work: Path, recipe: Recipe) -> Iterator[Path]:
    packages = work / "packages"
    yield from source_files(packages)
    for name in recipe["packages"]:
        yield packages / name.split("/")[-1] / "package.json"


def _results(work: Path, recipe: Recipe) -> Iterator[Path]:
    """Yields the files of finished steps: the result, its settings, and the log."""
    for step, result in results(recipe).items():
        made = work / result
        if step in REMADE_STEPS or not made.exists():
            continue
        yield from (path for path in made.parent.iterdir() if path.suffix in (".json", ".jsonl"))
        if made.is_dir():
            # Kontext has the autoencoder of the first step.
            yield from (p for p in made.rglob("*") if p.is_file() and p.parent.name != "vae")
        else:
            yield made


def _put(path: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".safetensors":
        save_file({name: weights.half() for name, weights in load_file(path).items()}, place)
    else:
        shutil.copyfile(path, place)
