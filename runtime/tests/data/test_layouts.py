"""Tests how layouts of public files are read or rejected."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from bakehouse_runtime.data.conversations import Conversation, Preference, Rated
from bakehouse_runtime.data.rows import read_rows, text_warnings
from bakehouse_runtime.data.table import Dropped
from bakehouse_runtime.errors import PlainError
from train_spec import data_spec

_CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "fixtures/layouts.json").read_text("utf-8")
)


def parameter(case: dict[str, Any]) -> Any:
    return pytest.param(case, id=f"{case['file']}: {case['what']}")


@pytest.mark.parametrize("case", [parameter(case) for case in _CASES])
def test_reads_a_layout_or_explains_the_fix(tmp_path: Path, case: dict[str, Any]) -> None:
    path = tmp_path / case["file"]
    content = base64.b64decode(case["base64"]) if "base64" in case else case["text"].encode()
    path.write_bytes(content)
    data = data_spec(path.name, input_column=None, output_column=None)
    refusal = case.get("refused") or case.get("unreadable")
    if refusal is not None:
        with pytest.raises(PlainError) as caught:
            list(read_rows(path, data).rows)
        assert refusal in str(caught.value)
        return
    rows = read_rows(path, data)
    found = list(rows.rows)
    unnamed = {"rejected_column": None, "label_column": None}
    assert vars(rows.format) == unnamed | case["format"]
    if "turns" in case:
        first = found[0]
        assert isinstance(first, Conversation)
        assert [[turn.role, turn.said] for turn in first.turns] == case["turns"]
    if "rejected" in case:
        first = found[0]
        assert isinstance(first, Preference)
        assert [[turn.role, turn.content] for turn in first.rejected] == case["rejected"]
    if "ratings" in case:
        assert [row.good for row in found if isinstance(row, Rated)] == case["ratings"]
    if "lines" in case:
        assert [row.line for row in found if not isinstance(row, Dropped)] == case["lines"]
    if "dropped" in case:
        dropped = [row.reason for row in found if isinstance(row, Dropped)]
        assert len(dropped) == len(case["dropped"])
        for reason, said in zip(dropped, case["dropped"], strict=True):
            assert reason.startswith(said)
    if "warned" in case:
        warnings = rows.warnings(path.name)
        assert len(warnings) == len(case["warned"])
        for warning, said in zip(warnings, case["warned"], strict=True):
            assert warning.startswith(said)


def test_warns_about_a_text_file_with_json_rows() -> None:
    assert text_warnings('{"q": "Hi"}\n\n{"q": "Bye"}\n', "x/d.txt") == [
        "d.txt contains JSON lists or objects, but is trained on as plain text: name it "
        ".jsonl or .json to train on its rows."
    ]
    assert text_warnings('Once\n{"q": 1}\nupon a time\n', "d.txt") == []
