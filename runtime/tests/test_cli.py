from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bakehouse_runtime import cli
from bakehouse_runtime.cli import main
from bakehouse_runtime.errors import PlainError, ServerUnreachableError, WorkloadOver

SOURCE = str(Path(__file__).parent.parent / "src")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bakehouse_runtime", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": SOURCE},
    )


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from bakehouse_runtime.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'httpx', 'pydantic', 'transformers', 'xllamacpp'}\n"
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "validate" in done.stdout


@pytest.mark.parametrize("module", ["bakehouse_runtime.serve.text", "bakehouse_runtime.validate"])
def test_serving_and_validating_need_no_torch(module: str) -> None:
    code = f"import sys, {module}; sys.exit(bool({{'torch', 'transformers'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": SOURCE}, check=False)
    assert done.returncode == 0


def test_prints_errors_as_one_sentence_on_stderr(tmp_path: Path) -> None:
    done = run("train", str(tmp_path / "missing.json"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        done.stderr
        == f"The spec {tmp_path}/missing.json cannot be read: No such file or directory.\n"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "Invalid JSON"),
        ("{}", "field base_model_dir: Field required"),
        (json.dumps({"base_model_dir": 5}), "field base_model_dir: Input should be a valid string"),
    ],
)
def test_names_the_first_invalid_field_of_a_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(content)
    assert main(["validate", str(spec)]) == 1
    assert message in capsys.readouterr().err


WORKLOAD = {
    "protocol": 1,
    "workload_id": "w",
    "server": {"base_url": "http://127.0.0.1:9", "token": "t"},
    "work_dir": "work",
    "inputs_dir": "inputs",
    "inputs": [],
}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "wrong: field protocol: Field required."),
        ({"protocol": 2}, "has protocol 2, but this runtime reads protocol 1: the server and the "),
        (WORKLOAD, "field kind: "),
        (WORKLOAD | {"kind": "bake"}, "field kind: Input tag 'bake'"),
        (WORKLOAD | {"kind": "train", "method": "x"}, "field method: Input tag 'x'"),
        (WORKLOAD | {"kind": "train", "method": "lora"}, "wrong: field title: Field required."),
        (
            WORKLOAD
            | {"kind": "serve", "task": "image", "engine": "paris", "host": "h", "port": 0}
            | {"api_key": "k", "parallel_requests": 1, "threads": 1},
            "is wrong: its kind is serve, not train.",
        ),
    ],
)
def test_reports_a_wrong_workload_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: object, message: str
) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(content))
    assert main(["train", str(spec)]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [(PlainError("No rows."), 1), (ServerUnreachableError("Away."), 75), (WorkloadOver(), 0)],
)
def test_the_exit_status_depends_on_the_error(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_serve", fail)
    assert main(["serve", "spec.json"]) == status
