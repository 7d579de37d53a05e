"""Tests what pages show of a data file."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bakehouse_runtime.cli import main
from bakehouse_runtime.data import profile as profile_module
from bakehouse_runtime.data.profile import profile
from bakehouse_runtime.data.rows import read_rows
from bakehouse_runtime.errors import PlainError
from train_spec import data_spec

_FIXTURES = Path(__file__).parent / "fixtures"


def cases(name: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{case['file']}: {case['what']}")
        for case in json.loads((_FIXTURES / name).read_text("utf-8"))
    ]


def write(folder: Path, case: dict[str, Any]) -> Path:
    path = folder / case["file"]
    path.write_bytes(
        base64.b64decode(case["base64"]) if "base64" in case else case["text"].encode()
    )
    return path


def rows_of(folder: Path) -> list[list[str | None]]:
    columns = pq.read_table(folder / "rows").to_pydict()
    return [list(row) for row in zip(*columns.values(), strict=True)]


def look(path: Path, name: str | None = None) -> dict[str, Any]:
    return profile(path, name or path.name, path.parent / "rows")


@pytest.mark.parametrize("case", cases("files.json"))
def test_writes_the_rows_that_training_reads(tmp_path: Path, case: dict[str, Any]) -> None:
    path = write(tmp_path, case)
    if "refused" in case:
        with pytest.raises(PlainError) as caught:
            look(path)
        assert case["refused"] in str(caught.value)
        return
    found = look(path)
    assert found["columns"] == case["columns"]
    assert (found["row_count"], found["is_whole"]) == (len(case["rows"]), True)
    assert [row["line"] for row in found["broken"]] == [line for line, _ in case["dropped"]]
    written = rows_of(tmp_path)
    if path.suffix != ".csv":
        written = [[None if cell is None else json.loads(cell) for cell in row] for row in written]
    assert written == [row[1:] or [None] for row in case["rows"]]


@pytest.mark.parametrize("case", cases("layouts.json"))
def test_recognises_a_layout_or_explains_the_fix(tmp_path: Path, case: dict[str, Any]) -> None:
    path = write(tmp_path, case)
    if "unreadable" in case:
        with pytest.raises(PlainError, match=re.escape(case["unreadable"])):
            look(path)
        return
    found = look(path)
    if "refused" not in case:
        data = data_spec(path.name, input_column=None, output_column=None)
        assert found["format"] == asdict(read_rows(path, data).format)
        assert found["format_problem"] is None
        return
    # Other error messages only list the columns, or name the first unreadable line.
    is_known = not re.search(r"no rows|not recognized|Its columns|\.jsonl file", case["refused"])
    assert found["format"] is None or not is_known
    assert (found["format_problem"] is not None) == is_known
    if is_known:
        assert case["refused"].removesuffix(".") in found["format_problem"]


def test_shows_a_packed_file_that_training_rejects(tmp_path: Path) -> None:
    packed = gzip.compress(b"question,answer\nWho?,Ada\n")
    path = tmp_path / "data.gz"
    path.write_bytes(packed)
    found = look(path, "a/d.csv.gz")
    assert found["format_problem"] == "d.csv.gz is packed with gzip. Unpack it and upload it again."
    assert found["format"]["format"] == "prompt_completion"
    assert rows_of(tmp_path) == [["Who?", "Ada"]]
    path.write_bytes(packed[:30])
    with pytest.raises(PlainError, match=r"^d\.csv\.gz is cut off: upload it again\.$"):
        look(path, "a/d.csv.gz")
    path.write_bytes(b"a,b\n1,2\n" * 9)
    with pytest.raises(PlainError, match=r"^d\.csv\.gz is damaged: upload it again\.$"):
        look(path, "a/d.csv.gz")
    with pytest.raises(PlainError, match=r"^d\.tar\.gz is packed: unpack it first\.$"):
        look(path, "d.tar.gz")


def test_keeps_every_digit_of_a_json_number(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    digits = "9" * 500
    path.write_text(
        f'{{"id": 9007199254740993, "big": {{"n": [1e400, -0.5]}}, "long": {digits}}}\n'
        '{"id": null, "late": "ü"}\n'
    )
    look(path)
    assert rows_of(tmp_path) == [
        ["9007199254740993", '{"n":[1e400,-0.5]}', digits, None],
        ["null", None, None, '"ü"'],
    ]


def test_writes_every_line_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "d.md"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\ntwo\r\r\n")
    assert (look(path)["row_count"], rows_of(tmp_path)) == (3, [["one"], [""], ["two\r"]])


def test_reads_only_the_first_rows_of_a_large_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_module, "_WHOLE_BYTES", 1_000)
    monkeypatch.setattr(profile_module, "_FIRST_ROWS", 50)
    path = tmp_path / "d.csv"
    path.write_text("a,b\nbroken\n" + "1,2\n" * 400)
    found = look(path)
    assert (found["is_whole"], found["row_count"], found["broken_count"]) == (False, None, 1)
    assert 50 <= len(rows_of(tmp_path)) == found["rows_written"] < 400
    path.write_text("a,b\n" + "1,2\n" * 248)
    assert look(path)["row_count"] == 248


def test_writes_a_limited_number_of_cells_and_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_module, "_CELLS_MAX", 1_000)
    path = tmp_path / "d.csv"
    names = ",".join(f"c{at}" for at in range(300))
    path.write_text("\n".join([names] * 10))
    found = look(path)
    assert (len(found["columns"]), found["column_count"]) == (200, 300)
    assert (found["is_whole"], found["row_count"], found["rows_written"]) == (False, 9, 5)


def test_exits_like_a_killed_program_if_memory_runs_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(profile_module, "profile", fail)
    asked = {"folder": str(tmp_path), "file": "data", "name": "d.jsonl"}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(asked)))
    assert main(["profile"]) == 137


def test_refuses_column_names_of_more_than_a_million_characters(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(f"{'a' * 1_000_001},b\n1,2\n")
    with pytest.raises(PlainError, match="have more than a million characters"):
        profile(file, "wide.csv", tmp_path / "rows.parquet")
