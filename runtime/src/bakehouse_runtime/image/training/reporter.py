"""The interface to which a picture trainer reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol

Unit = Literal["steps", "bytes", "examples"]


class TrainingReporter(Protocol):
    """The part of the runtime's Reporter that trainers use, and a place for sample pictures."""

    @property
    def stop_requested(self) -> bool:
        """Whether to save and end after the current step."""
        ...

    def phase(self, phase: str) -> None: ...

    def progress(
        self, done: float, total: float, unit: Unit, remaining_seconds: float | None = None
    ) -> None: ...

    def metrics(self, step: int, values: Mapping[str, float]) -> None: ...

    def log(self, line: str) -> None: ...

    def checkpoint(self, step: int) -> None: ...

    def samples(self, sheet: Path) -> None:
        """A sheet of sample pictures has been written to `sheet`."""
        ...
