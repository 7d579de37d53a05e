"""Shared fixtures: a tiny Llama model and a fake server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

# Tests run in two workers: more threads only compete, and change sums.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starts with the longest files: the last ones run while other workers have nothing to do."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/train/"))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny Llama with its own output matrix."""
    from tiny_model import write_tiny_model

    return write_tiny_model(tmp_path_factory.mktemp("tiny") / "model", tied=False)


@pytest.fixture(scope="session")
def tied_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny Llama that shares its output matrix with its embeddings."""
    from tiny_model import write_tiny_model

    return write_tiny_model(tmp_path_factory.mktemp("tied") / "model", tied=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[BakehouseServer]:
    """A server without workloads; see bakehouse_server.py."""
    from bakehouse_server import BakehouseServer

    with BakehouseServer(tmp_path / "artefacts") as running:
        yield running
