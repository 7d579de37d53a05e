"""Writes the models of vLLM's soak suite into a folder."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from .tiny_families import write_adapter, write_caller, write_encoder, write_family

PROMPT = [*range(10, 20)]


def write_models(folder: Path, asked: dict[str, Any], call: str) -> None:
    """Writes a tiny Llama, adapters for it and for another model, and an encoder. The adapter
    `caller` answers the request `asked` by `call`."""
    base = write_family(folder / "base", "llama")
    write_adapter(base, folder / "first", PROMPT, seed=1)
    write_adapter(base, folder / "second", PROMPT, seed=2)
    write_caller(base, folder / "caller", asked, call)
    other = write_family(folder / "other", "phi3")
    write_adapter(other, folder / "strange", PROMPT)
    shutil.rmtree(other)
    write_encoder(folder / "encoder")


if __name__ == "__main__":
    write_models(Path(sys.argv[1]), **json.loads(sys.argv[2]))
