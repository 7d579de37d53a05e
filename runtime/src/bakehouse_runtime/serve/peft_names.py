"""Renames the modules of a PEFT adapter to the names in the base model's files, which vLLM uses.

Transformers loads some models under other names than their files have. For example, the text model
of Qwen3.5 is a part of a model that reads images. vLLM ignores tensors of an adapter whose names it
does not know.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from ..base_model import is_other_part
from ..errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PREFIX = "base_model.model."
_CONFIG, _TENSORS = "adapter_config.json", "adapter_model.safetensors"
_HEADER_BYTES_MAX = 100 << 20


def checkpoint_modules(base: Path) -> set[str]:
    """Returns the names of the modules in the safetensors files of a model."""
    names = {name for part in base.glob("*.safetensors") for name in _read_header(part)[0]}
    return {name.rpartition(".")[0] for name in names}


def rename_modules(adapter: Path, modules: set[str], target: Path) -> None:
    """Writes the adapter into the folder `target` under the names of `modules`, without adapters
    of parts that read no text. Raises PlainError for a module that the base lacks."""
    target.mkdir(parents=True)
    shutil.copyfile(adapter / _CONFIG, target / _CONFIG)
    header, start = _read_header(adapter / _TENSORS)
    short = {_short(name): name for name in modules if not is_other_part(name)}
    kept = {
        _renamed(name, modules, short): entry
        for name, entry in header.items()
        if not is_other_part(name.removeprefix(_PREFIX))
    }
    if not kept:
        raise PlainError("The adapter has no modules of the language model.")
    renamed, size = {}, 0
    for name, entry in kept.items():
        begin, end = entry["data_offsets"]
        renamed[name] = entry | {"data_offsets": [size, size + end - begin]}
        size += end - begin
    encoded = json.dumps(renamed).encode()
    with (adapter / _TENSORS).open("rb") as source, (target / _TENSORS).open("wb") as out:
        out.write(len(encoded).to_bytes(8, "little") + encoded)
        for entry in kept.values():
            begin, end = entry["data_offsets"]
            source.seek(start + begin)
            out.write(source.read(end - begin))


def is_zero(adapter: Path) -> bool:
    """Returns whether an adapter changes nothing, because all its second matrices are zero, as
    before training."""
    header, start = _read_header(adapter / _TENSORS)
    with (adapter / _TENSORS).open("rb") as file:
        for name, entry in header.items():
            if ".lora_B" in name or ".lora_embedding_B" in name:
                begin, end = entry["data_offsets"]
                file.seek(start + begin)
                if any(file.read(end - begin)):
                    return False
    return True


def _renamed(name: str, modules: set[str], short: dict[str, str]) -> str:
    module, lora, end = name.removeprefix(_PREFIX).partition(".lora_")
    # Tied to the embeddings, the output has no tensor of its own. Experts may be stored in one.
    if not lora or module in modules or ".experts" in module or module.endswith("lm_head"):
        return name
    found = short.get(_short(module))
    if found is None:
        raise PlainError(f"The adapter does not fit the base model, which has no {module}.")
    return f"{_PREFIX}{found}{lora}{end}"


def _short(module: str) -> str:
    """Returns the name below the language model, e.g. layers.0.self_attn.q_proj."""
    return ".".join(part for part in module.split(".") if part not in ("model", "language_model"))


def _read_header(file: Path) -> tuple[dict[str, dict[str, list[int]]], int]:
    """Returns the entries of a safetensors file, and where its data starts. Raises PlainError."""
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        try:
            if size > _HEADER_BYTES_MAX:
                raise ValueError
            header = json.loads(stream.read(size))
            entries: Iterator[tuple[str, dict[str, list[int]]]] = iter(header.items())
        except (ValueError, AttributeError) as error:
            raise PlainError(f"{file.name} is no safetensors file.") from error
    return {name: entry for name, entry in entries if name != "__metadata__"}, 8 + size
