from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bakehouse_runtime.confined import run_confined
from bakehouse_runtime.data.conversations import Conversation
from bakehouse_runtime.data.rows import is_text, read_rows, read_table, read_text
from bakehouse_runtime.data.table import DataError, Dropped, Row
from bakehouse_runtime.errors import PlainError
from train_spec import data_spec

# Files and their rows.
_FILES = Path(__file__).parent / "fixtures/files.json"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@dataclass
class Pair:
    line: int
    question: str
    answer: str


@dataclass
class ReadPairs:
    columns: list[str]
    kept: list[Pair]
    dropped: list[Dropped]


def read(path: Path, question: str | None = "q", answer: str | None = "a") -> ReadPairs:
    data = data_spec(path.name, input_column=question, output_column=answer)
    pairs = read_rows(path, data)
    rows = list(pairs.rows)
    return ReadPairs(
        pairs.columns,
        [
            Pair(row.line, *(turn.content for turn in row.turns))
            for row in rows
            if isinstance(row, Conversation)
        ],
        [row for row in rows if isinstance(row, Dropped)],
    )


@pytest.mark.parametrize(
    "case",
    json.loads(_FILES.read_text("utf-8")),
    ids=lambda case: f"{case['file']}: {case['what']}",
)
def test_reads_rows_and_reports_bad_ones(tmp_path: Path, case: dict[str, Any]) -> None:
    content = base64.b64decode(case["base64"]) if "base64" in case else case["text"]
    path = write(tmp_path, case["file"], content)
    if "refused" in case:
        with pytest.raises(PlainError) as caught:
            list(read_table(path, path.name).rows)
        assert case["refused"] in str(caught.value)
        return
    table = read_table(path, path.name)
    items = list(table.rows)
    dropped = [item for item in items if isinstance(item, Dropped)]
    assert table.columns == case["columns"]
    assert [
        [item.line, *(item.values.get(column) for column in table.columns)]
        for item in items
        if not isinstance(item, Dropped)
    ] == case["rows"]
    assert [row.line for row in dropped] == [line for line, _ in case["dropped"]]
    for row, (_, reason) in zip(dropped, case["dropped"], strict=True):
        assert row.reason.startswith(reason)


def test_reads_numbers_of_any_length(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", f'{{"q": {"9" * 5000}, "a": {"9" * 300}}}\n')
    assert read(path).kept == [Pair(1, "inf", "9" * 300)]


def test_rejects_a_missing_column_without_listing_thousands(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(80_000)]
    for path in (
        write(tmp_path, "x.csv", f"{','.join(names)}\n"),
        write(tmp_path, "x.jsonl", "\n".join(f'{{"{name}": 1}}' for name in names)),
    ):
        with pytest.raises(DataError, match=r"has no column q\.") as caught:
            read(path)
        assert caught.value.columns == names
        assert str(caught.value).endswith(", c19 and 79980 more.")


def test_csv_reports_line_and_reason_of_every_dropped_row(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "x.csv",
        'q,a\nwho,Ada\nonly one\n"two\nlines",yes\n\n,empty\n   ,blank\na,b,c\nlast,row\n',
    )
    pairs = read(path)
    assert pairs.columns == ["q", "a"]
    assert pairs.kept == [
        Pair(2, "who", "Ada"),
        Pair(4, "two\nlines", "yes"),
        Pair(10, "last", "row"),
    ]
    assert pairs.dropped == [
        Dropped(3, "1 field instead of 2"),
        Dropped(7, "column q is empty"),
        Dropped(8, "column q is empty"),
        Dropped(9, "3 fields instead of 2"),
    ]


def test_csv_reports_unclosed_quotes_at_their_start(tmp_path: Path) -> None:
    pairs = read(write(tmp_path, "x.csv", 'q,a\none,1\n"two,2\nthree,3\n'))
    assert pairs.kept == [Pair(2, "one", "1")]
    assert pairs.dropped == [Dropped(3, "a quote is opened and never closed")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_detects_the_delimiter(tmp_path: Path, delimiter: str) -> None:
    path = write(tmp_path, "x.csv", f"q{delimiter}a\r\n1{delimiter}2\r\n")
    assert read(path).kept == [Pair(2, "1", "2")]


def test_csv_skips_a_byte_order_mark(tmp_path: Path) -> None:
    assert read(write(tmp_path, "x.csv", b"\xef\xbb\xbfq,a\n1,2\n")).kept == [Pair(2, "1", "2")]


def test_rejects_a_missing_column_and_lists_the_columns(tmp_path: Path) -> None:
    for path in (
        write(tmp_path, "x.csv", "q,answer\n1,2\n"),
        write(tmp_path, "x.jsonl", '{"q": "1", "answer": "2"}\n'),
    ):
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(caught.value) == f"{path.name} has no column a. Its columns are: q, answer."
        assert caught.value.columns == ["q", "answer"]


def test_requires_columns_for_an_unrecognised_file(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", '{"q": "1", "answer": "2"}\n')
    with pytest.raises(DataError) as caught:
        read(path, "q", None)
    assert caught.value.columns == ["q", "answer"]


def test_rejects_a_file_whose_rows_all_have_nul_characters(tmp_path: Path) -> None:
    path = write(
        tmp_path, "x.csv", "lemma,gloss\n1 and more\0,2 and more\n3 and more\0,4 and more\n"
    )
    with pytest.raises(DataError) as caught:
        read(path, None, None)
    assert str(caught.value) == (
        "x.csv has no rows that can be read: line 2, the text contains a NUL character. Remove "
        "these characters, save the file as UTF-8 text and upload it again."
    )


def test_rejects_duplicate_column_names(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table([["1"], ["2"], ["3"]], names=["q", "a", "a"]), tmp_path / "x.parquet")
    with pytest.raises(PlainError, match=r"x\.parquet names the column 'a' twice"):
        read(tmp_path / "x.parquet")
    with pytest.raises(PlainError, match="names the column 'a' twice"):
        read(write(tmp_path, "x.csv", "q,a,a\n1,2,3\n"))


def test_jsonl_drops_lines_that_are_not_objects_with_text(tmp_path: Path) -> None:
    lines = [
        '{"q": "who", "a": "Ada"}',
        '{"q": "broken',
        "",
        '["q", "a"]',
        '{"q": "no answer"}',
        '{"q": "null", "a": null}',
        '{"q": "list", "a": [1]}',
        '{"q": 7, "a": true}',
    ]
    pairs = read(write(tmp_path, "x.jsonl", "\n".join(lines)))
    assert pairs.kept == [Pair(1, "who", "Ada"), Pair(8, "7", "True")]
    assert [(row.line, row.reason.split(":")[0]) for row in pairs.dropped] == [
        (2, "not JSON"),
        (4, "not an object with columns"),
        (5, "column a is missing"),
        (6, "column a is missing"),
        (7, "column a holds a list, not text"),
    ]


def test_json_reports_the_lines_of_its_objects(tmp_path: Path) -> None:
    rows = [{"q": "one", "a": "1"}, 5, {"q": "two", "a": "2"}]
    pairs = read(write(tmp_path, "x.json", json.dumps(rows, indent=1)))
    assert pairs.kept == [Pair(2, "one", "1"), Pair(7, "two", "2")]
    assert pairs.dropped == [Dropped(6, "not an object with columns")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[\n{"q": "1"},\n{"q": }]', "line 3"),
        ('[{"q": "1"} {"q": "2"}]', "',' expected"),
        ('[{"q": "1"}', "is not JSON"),
        ('[{"q": "1"}] trailing', "after the end of its list"),
    ],
)
def test_rejects_invalid_json_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(PlainError, match=message):
        read(write(tmp_path, "x.json", content))


def test_json_accepts_one_object_per_line(tmp_path: Path) -> None:
    assert read(write(tmp_path, "x.json", '{"q": "1", "a": "2"}\n')).kept == [Pair(1, "1", "2")]


def test_an_empty_json_list_has_no_rows(tmp_path: Path) -> None:
    assert read(write(tmp_path, "x.json", " [ ] ")).kept == []


def test_numbers_parquet_rows(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"q": ["one", None, "three"], "a": ["1", "2", ""]}), path)
    pairs = read(path)
    assert pairs.columns == ["q", "a"]
    assert pairs.kept == [Pair(1, "one", "1")]
    assert pairs.dropped == [Dropped(2, "column q is missing"), Dropped(3, "column a is empty")]


def test_splits_tsv_columns_only_at_tabs(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "x.tsv", "q, or, so\ta\nwho, then\tAda\n"), "x.tsv")
    assert table.columns == ["q, or, so", "a"]
    assert [row.values for row in table.rows if isinstance(row, Row)] == [
        {"q, or, so": "who, then", "a": "Ada"}
    ]


def test_accepts_aliases_of_file_extensions(tmp_path: Path) -> None:
    rows = read(write(tmp_path, "x.NDJSON", '{"q": "who", "a": "Ada"}\n'))
    assert rows.kept == [Pair(1, "who", "Ada")]
    assert is_text("notes/x.md")
    assert not is_text("x.tsv")


def test_reports_the_position_of_invalid_utf8(tmp_path: Path) -> None:
    for name in ("x.csv", "x.jsonl", "x.json", "x.txt"):
        path = write(tmp_path, name, "q,a\nä,1\n".encode() + b"caf\xe9,2\n")
        with pytest.raises(
            PlainError, match=r"not UTF-8 text: line 3, byte 4 \(byte 13 of the file\)"
        ):
            read_text(path, name) if name == "x.txt" else read(path)


def test_reports_utf16(tmp_path: Path) -> None:
    with pytest.raises(PlainError, match="UTF-16"):
        read(write(tmp_path, "x.csv", "q,a\n1,2\n".encode("utf-16")))


def test_rejects_empty_files_and_other_file_types(tmp_path: Path) -> None:
    with pytest.raises(PlainError, match="is empty"):
        read(write(tmp_path, "x.csv", ""))
    with pytest.raises(PlainError, match="contains no text"):
        read_text(write(tmp_path, "x.txt", " \n\n"), "x.txt")
    with pytest.raises(PlainError, match="use a csv, jsonl, json, txt or parquet file"):
        read(write(tmp_path, "x.png", "PNG"))
    with pytest.raises(PlainError, match=r"^x\.xlsx is a workbook: save a sheet as CSV\.$"):
        read(write(tmp_path, "x.xlsx", "PK"))
    with pytest.raises(PlainError, match=r"^x\.jsonl\.gz is packed: unpack it first\.$"):
        read(write(tmp_path, "x.jsonl.gz", "\x1f"))
    with pytest.raises(PlainError, match="not a parquet file"):
        read(write(tmp_path, "x.parquet", "PAR1, almost"))


@pytest.mark.parametrize("pattern", ["[{}]", '{{"version": [1], "data": [{}], "tags": []}}'])
@pytest.mark.parametrize("between", [",\n", ", "], ids=["lines", "one line"])
def test_streams_a_long_json_list_in_bounded_memory(
    tmp_path: Path, pattern: str, between: str
) -> None:
    # Not ASCII, so a character takes two or four bytes in memory.
    row = json.dumps({"q": "why", "a": "weil \u00fc\u2013 " * 2000}, ensure_ascii=False)
    data = write(tmp_path, "x.json", pattern.format(between.join([row] * 4000)))
    assert data.stat().st_size > 80 << 20
    assert run_confined("x.json", count_rows, data, memory_bytes=80 << 20) == 4000


def count_rows(path: Path) -> int:
    return sum(isinstance(row, Row) for row in read_table(path, path.name).rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[{"q": "%s"},\n {"q": \xff}]', "not UTF-8 text: line 2, byte 8 (byte 3000020 of"),
        (b'[{"q": "%s\xc3', "not UTF-8 text: line 1, byte 3000009 (byte 3000009 of"),
        (b'[{"q": "%s"},\n {"q": 1},\n  x]', "Expecting value on line 3, character 3."),
        (b'[{"q": "%s"}\n {"q": 1}]', "',' expected on line 2, character 2."),
        (b'[{"q": "%s', "Unterminated string starting at on line 1, character 8."),
        (b'[{"q": "%s"}]\n\n  end', "continues after the end of its list."),
    ],
)
def test_reports_the_position_of_an_error_late_in_the_file(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content.replace(b"%s", b"x" * 3_000_000))
    with pytest.raises(PlainError) as caught:
        count_rows(path)
    assert message in str(caught.value)


def test_json_list_reports_progress(tmp_path: Path) -> None:
    row = json.dumps({"q": "w\u00fc" * 100_000}, ensure_ascii=False)
    path = write(tmp_path, "x.json", f"\n[{', '.join([row] * 40)}]\n")
    table = read_table(path, path.name)
    parts = [table.position.part for _ in table.rows]
    assert parts == pytest.approx([at / 40 for at in range(1, 41)], abs=0.001)


def test_detects_quotes_by_characters_not_bytes(tmp_path: Path) -> None:
    # The reader inspects a number of characters, not of bytes. In UTF-8 the quote is beyond that
    # number of bytes.
    path = write(tmp_path, "d.tsv", f'q\ta\n{"中" * 30_000}\tx\n"Hi\tHello\n')
    assert [pair.answer for pair in read(path).kept] == ["x", "Hello"]
