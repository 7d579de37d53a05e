"""The methods of training. A new one is an entry here, a folder, and its spec in the contract."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import protocol

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True)
class Method:
    """`module` has a `run(spec)` that trains, or goes on from the last checkpoint, until done or
    stopped, and returns the exit status. `saves_memory` says what takes less memory."""

    spec: type[BaseModel]
    module: str
    saves_memory: str

    def run(self, spec: BaseModel) -> int:
        """Imports the method, with the libraries that it needs, and runs it."""
        return importlib.import_module(self.module, __package__).run(spec)


METHODS = {
    "lora": Method(
        protocol.TrainSpec, ".lora.run", "choose a smaller batch size, chunk size or rank"
    ),
    "autoencoder": Method(
        protocol.TrainAutoencoderSpec, ".autoencoder.run", "choose a smaller batch size"
    ),
    "paris": Method(protocol.TrainParisSpec, ".paris.run", "choose a smaller batch size"),
    "kontext": Method(
        protocol.TrainKontextSpec,
        ".kontext.run",
        "choose a smaller batch size, or train an adapter (LoRA) of a small rank",
    ),
}
