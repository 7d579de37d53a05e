"""The interface of serving engines, and helpers shared by llama.cpp and vLLM."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

# How long an engine may take to shut down, in whole seconds: for threads in this process, and for a
# child process that frees its GPUs.
CLOSE_S = 5
CLOSE_CHILD_S = 10


class ServingEngine(Protocol):
    """A model server that is running, or still loading."""

    @property
    def base_url(self) -> str:
        """The base of its routes, including `/health`, without `/v1`."""
        ...

    def ended(self) -> str | None:
        """Returns one sentence on why it ended unexpectedly, or None while it runs."""
        ...

    def in_flight(self) -> int | None:
        """Returns the number of running and queued requests; None if it is unknown."""
        ...

    def advances(self) -> bool:
        """Returns whether requests make progress; called every few seconds while serving. `/health`
        cannot show this, because it is answered even if the computation hangs."""
        ...

    def close(self) -> None:
        """Shuts it down, by force if necessary."""
        ...


@runtime_checkable
class LoadsAdapters(Protocol):
    """A model server that loads and unloads LoRA adapters while it runs."""

    def load_adapter(self, name: str, folder: Path) -> None:
        """Raises PlainError if it cannot serve the adapter, or MachineError if it does not answer
        in time; a later call tries again."""
        ...

    def unload_adapter(self, name: str) -> None:
        """Frees an adapter, and its name for another load. Raises MachineError."""
        ...


def answers(engine: ServingEngine) -> bool:
    """Returns whether `/health` reports that requests are served."""
    try:
        return _local().get(f"{engine.base_url}/health").is_success
    except httpx.HTTPError:
        return False


def gauge_sum(read_metrics: Callable[[], str], names: Iterable[str]) -> int | None:
    """Returns the sum of some gauges of a Prometheus page; None if the page cannot be read."""
    try:
        page = read_metrics()
    except httpx.HTTPError:
        return None
    pattern = "|".join(re.escape(name) for name in names)
    found = re.findall(rf"^(?:{pattern})(?:{{[^}}]*}})? ([0-9.e+]+)$", page, re.MULTILINE)
    return int(sum(float(value) for value in found))


def read_metrics(base_url: str, api_key: str) -> str:
    """Returns the engine's Prometheus page. Raises httpx.HTTPError."""
    headers = {"Authorization": f"Bearer {api_key}"}
    response = _local().get(f"{base_url}/metrics", headers=headers)
    response.raise_for_status()
    return response.text


@functools.cache
def _local() -> httpx.Client:
    """Calls to the local engine must not use a proxy."""
    return httpx.Client(timeout=2.0, trust_env=False)
