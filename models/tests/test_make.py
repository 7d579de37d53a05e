"""The steps by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parents[1]


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(MODELS / "make.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_figures_say_in_one_sentence_what_is_missing(tmp_path: Path) -> None:
    figures = make("figures", "--work", str(tmp_path))
    assert figures.returncode == 1
    assert figures.stdout == ""
    (*_, last) = figures.stderr.splitlines()
    assert last.startswith("The data packages are missing: run models/make.py fetch")


def test_an_expert_is_named_by_its_number() -> None:
    assert "expert needs --number, 0 to 7" in make("expert", "--number", "8").stderr
