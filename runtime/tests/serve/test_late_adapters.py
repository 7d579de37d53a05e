from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.protocol import ServeTextSpec
from bakehouse_runtime.serve.late_adapters import AdapterLoader
from bakehouse_runtime.workload import workload
from serving import serve_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


class Engine:
    """Loads adapters with a file of tensors."""

    def __init__(self) -> None:
        self.loaded: dict[str, list[str]] = {}

    def load_adapter(self, name: str, folder: Path) -> None:
        if not (folder / "adapter_model.safetensors").exists():
            raise PlainError("The adapter does not fit the base model.")
        self.loaded[name] = sorted(file.read_text() for file in folder.iterdir())


def test_loads_the_adapters_that_the_server_asks_for_and_reports_them(
    server: BakehouseServer, tmp_path: Path
) -> None:
    files = [server.add_input(b"tensors", "adapter_model.safetensors")]
    asked: list[dict[str, Any]] = [
        {"name": "good", "files": files},
        {"name": "bad", "files": [server.add_input(b"{}", "adapter_config.json")]},
    ]
    server.adapters = asked
    spec = ServeTextSpec.model_validate(serve_spec(server, tmp_path, []) | {"adapters": []})
    engine = Engine()
    with workload(spec) as work:
        loader = AdapterLoader(work, engine, [])
        until = time.monotonic() + 60
        while len(server.of_type("adapter")) < 2 and time.monotonic() < until:
            loader.load_missing()
            time.sleep(0.02)
    assert engine.loaded == {"good": ["tensors"]}
    # The server requests both adapters until it has the reports, but each is loaded only once.
    assert [(one["name"], one["failure"]) for one in server.of_type("adapter")] == [
        ("good", None),
        ("bad", "The adapter does not fit the base model."),
    ]
    assert not (tmp_path / "work" / "pulled").exists()


def test_starts_without_an_adapter_that_fails_and_reports_it(
    server: BakehouseServer, tmp_path: Path
) -> None:
    files = [
        {"name": "one", "files": [server.add_input(b"tensors", "adapter_model.safetensors")]},
        {"name": "two", "files": [server.add_input(b"{}", "adapter_config.json")]},
    ]
    adapters = [{"name": one["name"], "input": one["name"], "file": "", "rank": 8} for one in files]
    spec = ServeTextSpec.model_validate(
        serve_spec(server, tmp_path, files) | {"adapters": adapters}
    )
    engine = Engine()
    with workload(spec) as work:
        work.pull_inputs(tmp_path / "cache")
        loader = AdapterLoader(work, engine, spec.adapters)
        loader.load_first()
        loader.load_missing()
        server.wait_for("adapter")
    assert engine.loaded == {"one": ["tensors"]}
    assert [(one["name"], one["failure"]) for one in server.of_type("adapter")] == [
        ("two", "The adapter does not fit the base model."),
    ]
