"""Downloads the LoRAs that requests name, while the requests wait."""

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

# How long the server may be unreachable while a request waits.
LORA_TIMEOUT_S = 60.0
# Cache size for unused files; the oldest are deleted first.
_KEPT_BYTES = 2 << 30
_NAME = "lora.safetensors"


class LoraMissingError(PlainError):
    """A LoRA could not be fetched; the request is valid and may be repeated."""


class LoraFiles:
    """Thread-safe. A server of untrusted weights must not see the machine's cache, so this has a
    cache of its own in the work folder."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source = source
        self._cache = folder / "cache"
        self._lent = folder / "lent"
        self._numbers = itertools.count(1)
        # Files left by an earlier attempt that was killed.
        shutil.rmtree(self._lent, ignore_errors=True)

    @contextmanager
    def lent(
        self, lora: ImageLora | None, is_wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[Path | None]:
        """Yields the file, if there is one, within the block. Raises LoraMissingError, and
        StopRequested if it is no longer wanted before it is downloaded."""
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
        # The server is unreachable or lacks the file, its workload has ended, or the disk is full.
        except (PlainError, WorkloadOver, OSError) as error:
            _log.warning("failed to fetch a LoRA: %s", error)
            raise LoraMissingError("The model server could not fetch the LoRA.") from error
