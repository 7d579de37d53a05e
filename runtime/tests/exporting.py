"""Runs an export in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from bakehouse_runtime.export.compare import generate_served_answers
from bakehouse_runtime.protocol import ExportGgufSpec
from train_spec import finish, fork, questions

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

PROMPTS = [question for question, _ in questions()[::9]]


def spec_of(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path, **changed: Any
) -> dict[str, Any]:
    inputs = [server.add_folder("base_model", base), server.add_folder("adapter", adapter)]
    return server.workload(tmp_path, inputs) | {
        "kind": "export",
        "title": "Loaves (GGUF F16)",
        "fine_tune_title": "Loaves",
        "fine_tune_repository": "baker/loaves",
        "license": "apache-2.0",
        "license_name": None,
        "license_link": None,
        "prompts": PROMPTS,
        **changed,
    }


def gguf_spec(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path, **changed: Any
) -> dict[str, Any]:
    own = {
        "format": "gguf",
        "quantization": "F16",
        "base_model_file": "tiny.gguf",
        "file_name": "Loaves-F16",
    }
    return spec_of(server, tmp_path, base, adapter, **(own | changed))


class Ended(NamedTuple):
    returncode: int | None
    stderr: str


def export(spec: dict[str, Any], tmp_path: Path) -> Ended:
    path, stderr = tmp_path / "export.json", tmp_path / "stderr"
    path.write_text(json.dumps(spec))
    code = finish(fork(run, path, stderr))
    return Ended(code, stderr.read_text())


def run(path: Path, stderr: Path) -> None:
    """Runs `pull SPEC.json` and `export SPEC.json` like the command line."""
    from bakehouse_runtime.cli import main

    with stderr.open("w") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
    cache = str(path.with_name("cache"))
    sys.exit(main(["pull", "--cache", cache, str(path)]) or main(["export", str(path)]))


def answers(spec: dict[str, Any], model: Path, with_adapter: Path | None) -> list[str]:
    asked = ExportGgufSpec.model_validate(spec)
    return generate_served_answers(
        asked, model.parent, model.name, with_adapter, asked.prompts, lambda: False
    )
