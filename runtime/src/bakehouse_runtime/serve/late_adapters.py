"""Loads adapters into a text server: the adapters of its spec before it is ready, and later the
adapters that the Bakehouse server requests. Unloads adapters that no deployment needs."""

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
        self._loaded: set[str] = set()
        # Requests whose result was reported: names with the time of the request.
        self._tried: set[tuple[str, str]] = set()
        self._failed_first: list[tuple[str, str]] = []

    def load_first(self) -> None:
        """Loads the adapters of the spec. The server starts without adapters that fail, because it
        may serve other users; `follow_server` reports them. Raises MachineError."""
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
            else:
                self._loaded.add(adapter.name)

    def follow_server(self) -> None:
        """Loads the adapters that the server's last answer requests, and unloads those that it no
        longer wants."""
        reporter = self._work.reporter
        for name, failure in self._failed_first:
            reporter.adapter(name, failure)
        self._failed_first.clear()
        if (answer := reporter.last_answer) is None:
            return
        try:
            if answer.wanted_adapters is not None:
                for name in self._loaded.difference(answer.wanted_adapters):
                    self._engine.unload_adapter(name)
                    self._loaded.remove(name)
            self._load(answer.adapters or [])
        except (ServerUnreachableError, MachineError) as error:
            # The next poll tries again.
            _log.warning("failed to change the adapters: %s", error)
        except StopRequested:
            return

    def _load(self, missing: list[ReportsAnswerAdapter]) -> None:
        requests = {(one.name, one.requested_at): one for one in missing}
        self._tried &= requests.keys()
        for request, one in requests.items():
            if request not in self._tried:
                failure = None if one.name in self._loaded else self._failure(one)
                self._loaded |= {one.name} if failure is None else set()
                self._tried.add(request)
                self._work.reporter.adapter(one.name, failure)

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
