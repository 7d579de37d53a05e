from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.cli import main
from bakehouse_server import TOKEN
from serving import serve_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def arguments(server: BakehouseServer, tmp_path: Path) -> list[str]:
    token_file = tmp_path / "token"
    token_file.write_text(f"{TOKEN}\n")
    folder = tmp_path / "given"
    folder.mkdir()
    return [
        *("fetch", "--server", server.url, "--workload", "w-1", "--token-file", str(token_file)),
        *("--folder", str(folder), "--work-dir", str(tmp_path / "work")),
        *("--host", "10.1.2.3", "--port", "8000", "--threads", "3", "--leave-seconds", "1770"),
    ]


def test_fetches_the_spec_and_the_inputs(server: BakehouseServer, tmp_path: Path) -> None:
    weights = server.add_input(b"weights", "model.gguf")
    whole = serve_spec(server, tmp_path, [{"name": "model", "files": [weights]}])
    places = ("server", "work_dir", "inputs_dir", "host", "threads")
    server.spec = {key: value for key, value in whole.items() if key not in places}

    assert main(arguments(server, tmp_path)) == 0

    spec = json.loads((tmp_path / "given" / "spec.json").read_text())
    assert spec["server"] == {"base_url": server.url, "token": TOKEN}
    assert (spec["host"], spec["threads"], spec["keeps_work_dir"]) == ("10.1.2.3", 3, False)
    assert (spec["port"], spec["leave_seconds"]) == (8000, 1770)
    assert (tmp_path / "given" / "files" / "model" / "model.gguf").read_bytes() == b"weights"


def test_keeps_inputs_in_a_cache_for_later_pods(server: BakehouseServer, tmp_path: Path) -> None:
    weights = server.add_input(b"weights", "model.gguf")
    server.spec = serve_spec(server, tmp_path, [{"name": "model", "files": [weights]}])
    cache = ("--cache", str(tmp_path / "cache"))
    for pod in ("one", "two"):
        (tmp_path / pod).mkdir()
        assert main([*arguments(server, tmp_path / pod), *cache]) == 0
        given = tmp_path / pod / "given" / "files" / "model" / "model.gguf"
        assert given.read_bytes() == b"weights"
    downloads = [path for method, path, _ in server.requests if weights["sha256"] in path]
    assert len(downloads) == 1


@pytest.mark.parametrize("rank", ["0", "1"])
def test_only_the_first_of_several_nodes_reports(
    server: BakehouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rank: str
) -> None:
    weights = server.add_input(b"weights", "model.gguf")
    server.spec = serve_spec(server, tmp_path, [{"name": "model", "files": [weights]}])
    monkeypatch.setenv("PET_NODE_RANK", rank)

    assert main(arguments(server, tmp_path)) == 0

    assert (tmp_path / "given" / "files" / "model" / "model.gguf").read_bytes() == b"weights"
    assert bool(server.of_type("phase")) == (rank == "0")


def test_a_replaced_attempt_does_nothing(server: BakehouseServer, tmp_path: Path) -> None:
    given = arguments(server, tmp_path)
    (tmp_path / "token").write_text("of an earlier attempt")
    assert main(given) == 75
    assert not (tmp_path / "given" / "spec.json").exists()


def test_names_a_missing_token_file(
    server: BakehouseServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments(server, tmp_path)
    (tmp_path / "token").unlink()
    assert main(given) == 1
    assert "token cannot be read: No such file" in capsys.readouterr().err
