"""Loads adapters into a text server: the adapters of its spec before it is ready, and later the
adapters that the Bakehouse server requests, so that a new fine-tune needs no second model
server."""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING

from ..errors import MachineError, PlainError, ServerUnreachableError, StopRequested
from ..inputs import pull_inputs
from ..protocol import WorkloadInput

if TYPE_CHECKING:
    from ..protocol import ReportsAnswerAdapter, ServeTextSpecAdapter
    from ..workload import Workload
    from .engine import LoadsAdapters


_log = logging.getLogger(__name__)


class AdapterLoader:
    """Loads each adapter once, and reports the result for adapters that the server has
    requested."""

    def __init__(
        self, work: Workload, engine: LoadsAdapters, first: list[ServeTextSpecAdapter]
    ) -> None:
        """`first` are the adapters of the spec."""
        self._work, self._engine, self._first = work, engine, first
        self._tried: set[str] = set()
        self._failed_first: list[tuple[str, str]] = []

    def load_first(self) -> None:
        """Loads the adapters of the spec. The server starts without adapters that fail, because it
        may serve other users; `load_missing` reports them. Raises MachineError."""
        inputs = self._work.inputs()
        for adapter in self._first:
            if adapter.input not in inputs:
                raise PlainError(f"The spec has no input {adapter.input}.")
            try:
                self._engine.load_adapter(adapter.name, inputs[adapter.input])
            except MachineError:
                raise
            except PlainError as error:
                self._failed_first.append((adapter.name, str(error)))

    def load_missing(self) -> None:
        """Loads the adapters that the server's last answer names."""
        reporter = self._work.reporter
        for name, failure in self._failed_first:
            reporter.adapter(name, failure)
        self._failed_first.clear()
        missing = reporter.missing_adapters
        self._tried &= {one.name for one in missing}
        for one in missing:
            if one.name in self._tried:
                continue
            try:
                failure = self._failure(one)
            except (ServerUnreachableError, MachineError) as error:
                # The next poll tries again.
                _log.warning("failed to fetch an adapter: %s", error)
                return
            except StopRequested:
                return
            self._tried.add(one.name)
            reporter.adapter(one.name, failure)

    def _failure(self, one: ReportsAnswerAdapter) -> str | None:
        """Loads an adapter; returns why it cannot be served."""
        work = self._work
        folder = work.work_dir / "pulled" / one.name

        def stop_if_requested(*_: int) -> None:
            if work.reporter.stop_requested:
                raise StopRequested

        try:
            wanted = WorkloadInput(name=one.name, files=one.files)
            pull_inputs(
                [wanted], work.client, folder.parent / "cache", folder.parent, stop_if_requested
            )
            self._engine.load_adapter(one.name, folder)
        except (ServerUnreachableError, MachineError):
            raise
        except PlainError as error:
            return str(error)
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)
        return None
