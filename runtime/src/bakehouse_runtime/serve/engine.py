"""What `serve` needs of an engine, and what llama.cpp and vLLM share."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Protocol

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# How long an engine may take to end by itself, in whole seconds: one of threads in this process,
# and one that is a child and frees its GPUs.
CLOSE_S = 5
CLOSE_CHILD_S = 10


class ServingEngine(Protocol):
    """A model server that is running, or is still loading."""

    @property
    def base_url(self) -> str:
        """Where its routes are, `/health` among them, without `/v1`."""
        ...

    def ended(self) -> str | None:
        """One sentence why it has ended by itself, or None while it runs."""
        ...

    def in_flight(self) -> int | None:
        """How many requests it is working on or holds in its queue; None when it does not say."""
        ...

    def advances(self) -> bool:
        """Whether it makes progress with its requests; called every few seconds while it serves. A
        server whose work hangs goes on answering `/health`."""
        ...

    def close(self) -> None:
        """Ends it, by force where it does not end by itself."""
        ...


def answers(engine: ServingEngine) -> bool:
    """Whether `/health` says that requests are served."""
    try:
        return _local().get(f"{engine.base_url}/health").is_success
    except httpx.HTTPError:
        return False


def gauge_sum(read_metrics: Callable[[], str], names: Iterable[str]) -> int | None:
    """The sum of some gauges of a Prometheus page; None when the page cannot be read."""
    try:
        page = read_metrics()
    except httpx.HTTPError:
        return None
    pattern = "|".join(re.escape(name) for name in names)
    found = re.findall(rf"^(?:{pattern})(?:{{[^}}]*}})? ([0-9.e+]+)$", page, re.MULTILINE)
    return int(sum(float(value) for value in found))


def read_metrics(base_url: str, api_key: str) -> str:
    """The engine's Prometheus page. Raises httpx.HTTPError."""
    headers = {"Authorization": f"Bearer {api_key}"}
    response = _local().get(f"{base_url}/metrics", headers=headers)
    response.raise_for_status()
    return response.text


@functools.cache
def _local() -> httpx.Client:
    """Calls to the engine on this machine: no proxy is for them."""
    return httpx.Client(timeout=2.0, trust_env=False)
