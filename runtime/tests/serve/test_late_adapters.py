from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.protocol import ServeTextSpec
from bakehouse_runtime.serve.late_adapters import AdapterLoader
from bakehouse_runtime.workload import workload
from serving import serve_spec

if TYPE_CHECKING:
    from collections.abc import Callable
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

    def unload_adapter(self, name: str) -> None:
        del self.loaded[name]


def test_loads_and_unloads_the_adapters_that_the_server_names(
    server: BakehouseServer, tmp_path: Path
) -> None:
    files = [server.add_input(b"tensors", "adapter_model.safetensors")]
    bad = [server.add_input(b"{}", "adapter_config.json")]
    server.adapters = [
        {"name": "good", "requested_at": "1", "files": files},
        {"name": "bad", "requested_at": "1", "files": bad},
    ]
    spec = ServeTextSpec.model_validate(serve_spec(server, tmp_path, []) | {"adapters": []})
    engine = Engine()
    with workload(spec) as work:
        loader = AdapterLoader(work, engine, [])
        _follow_until(loader, lambda: len(server.of_type("adapter")) == 2)
        assert engine.loaded == {"good": ["tensors"]}
        # The server repeats requests until it has the reports, but each is answered only once.
        assert [(one["name"], one["failure"]) for one in server.of_type("adapter")] == [
            ("good", None),
            ("bad", "The adapter does not fit the base model."),
        ]
        # A new deployment requests the same adapter before the old one has ended.
        server.adapters = [{"name": "bad", "requested_at": "2", "files": files}]
        server.wanted_adapters = ["bad"]
        _follow_until(loader, lambda: len(server.of_type("adapter")) == 3)
        assert engine.loaded == {"bad": ["tensors"]}
        # A woken deployment requests an adapter that is still loaded, while another one is loaded.
        server.wanted_adapters = ["good", "bad"]
        server.adapters = [
            {"name": "good", "requested_at": "3", "files": files},
            {"name": "bad", "requested_at": "3", "files": []},
        ]
        _follow_until(loader, lambda: len(server.of_type("adapter")) == 5)
        assert {(one["name"], one["failure"]) for one in server.of_type("adapter")[2:]} == {
            ("bad", None),
            ("good", None),
        }
        assert engine.loaded == {"good": ["tensors"], "bad": ["tensors"]}
    assert not (tmp_path / "work" / "pulled").exists()


def _follow_until(loader: AdapterLoader, is_done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_done() and time.monotonic() < until:
        loader.follow_server()
        time.sleep(0.02)


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
        loader.follow_server()
        server.wait_for("adapter")
    assert engine.loaded == {"one": ["tensors"]}
    assert [(one["name"], one["failure"]) for one in server.of_type("adapter")] == [
        ("two", "The adapter does not fit the base model."),
    ]
