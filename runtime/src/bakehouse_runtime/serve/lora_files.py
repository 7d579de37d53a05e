"""The files of the LoRAs that requests name, brought here while the request waits for them."""

from __future__ import annotations

import itertools
import logging
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import PlainError, StopRequested, WorkloadOver
from ..inputs import prune_cache, pull_inputs
from ..protocol import InputFile, WorkloadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ..inputs import Source
    from ..protocol import ImageLora

_log = logging.getLogger(__name__)

# How long the server may be out of reach while somebody waits for a picture.
LORA_TIMEOUT_S = 60.0
# Of files that no request is using; the oldest go first.
_KEPT_BYTES = 2 << 30
_NAME = "lora.safetensors"


class LoraMissingError(PlainError):
    """A LoRA could not be fetched: nothing against the request, which may be repeated."""


class LoraFiles:
    """Safe to use from several threads. The machine's cache is not for a server of a stranger's
    weights to see: this one has a cache of its own, below its work folder."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source = source
        self._cache = folder / "cache"
        self._lent = folder / "lent"
        self._numbers = itertools.count(1)
        # What an earlier attempt was lending when it was killed.
        shutil.rmtree(self._lent, ignore_errors=True)

    @contextmanager
    def lent(
        self, lora: ImageLora | None, is_wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[Path | None]:
        """The file, if there is one, for as long as the block takes. Raises LoraMissingError, and
        StopRequested where it is not wanted any more before it is here."""
        if lora is None:
            yield None
            return
        number = str(next(self._numbers))
        file = InputFile(path=_NAME, sha256=lora.sha256, size_bytes=lora.size_bytes)
        wanted = WorkloadInput(name=number, files=[file])
        try:
            self._pull(wanted, is_wanted)
            yield self._lent / number / _NAME
        finally:
            shutil.rmtree(self._lent / number, ignore_errors=True)
            prune_cache(self._cache, _KEPT_BYTES)

    def _pull(self, wanted: WorkloadInput, is_wanted: Callable[[], bool]) -> None:
        def stop_unless_wanted(*_: int) -> None:
            if not is_wanted():
                raise StopRequested

        try:
            pull_inputs([wanted], self._source, self._cache, self._lent, stop_unless_wanted)
        # The server is out of reach or knows of no such file, its workload has ended, or there is
        # no place for the file.
        except (PlainError, WorkloadOver, OSError) as error:
            _log.warning("A LoRA could not be fetched: %s", error)
            raise LoraMissingError("The model server could not fetch the LoRA.") from error
