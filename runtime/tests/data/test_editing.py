"""Tests the edits of rows of a data file."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bakehouse_runtime.cli import main
from bakehouse_runtime.data.editing import text_lines
from bakehouse_runtime.data.editing.edit import EditError, StaleError
from bakehouse_runtime.data.editing.edit_file import edit_file
from bakehouse_runtime.errors import PlainError

if TYPE_CHECKING:
    from pathlib import Path


def change(at: int, was: dict[str, Any], cells: dict[str, Any] | str) -> dict[str, Any]:
    text = cells if isinstance(cells, str) else json.dumps(cells)
    return {"at": at, "was": json.dumps(was), "cells": text}


def delete(at: int, was: dict[str, Any]) -> dict[str, Any]:
    return {"at": at, "was": json.dumps(was)}


def add(cells: dict[str, Any] | str) -> dict[str, Any]:
    return {"cells": cells if isinstance(cells, str) else json.dumps(cells)}


def edited(folder: Path, name: str, content: str | bytes, *edits: dict[str, Any]) -> str:
    path = folder / "data"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    edit_file(path, name, list(edits), folder / "result")
    return (folder / "result").read_bytes().decode()


def edited_table(folder: Path, table: pa.Table, *edits: dict[str, Any], **how: Any) -> pa.Table:
    pq.write_table(table, folder / "data", **how)
    edit_file(folder / "data", "d.parquet", list(edits), folder / "result")
    return pq.read_table(folder / "result")


CSV = [
    pytest.param(
        'a,b\r\n1,"x, y"\r\n2,z\r\n',
        [change(0, {"a": "1", "b": "x, y"}, {"b": "plain"})],
        'a,b\r\n1,"plain"\r\n2,z\r\n',
        id="keeps the quotes of the cell and the line ends",
    ),
    pytest.param(
        "a;b\n1;x\n2;z",
        [change(1, {"a": "2", "b": "z"}, {"b": 'say "no"; go\nhome'})],
        'a;b\n1;x\n2;"say ""no""; go\nhome"',
        id="adds quotes where they are needed",
    ),
    pytest.param(
        '\ufeffa,b\n\n"1","two\nlines"\n\n3,4\n',
        [delete(0, {"a": "1", "b": "two\nlines"})],
        "\ufeffa,b\n\n\n3,4\n",
        id="deletes a row of two lines and keeps empty lines and the byte order mark",
    ),
    pytest.param(
        'a,b\n1,2,3\n4,"5\n7,8"\n9,10\n',
        [change(1, {"a": "9", "b": "10"}, {"a": "nine"})],
        'a,b\n1,2,3\n4,"5\n7,8"\nnine,10\n',
        id="counts only readable rows",
    ),
    pytest.param(
        "sep=|\na|b\n1|2",
        [add({"b": "3"}), add({"a": "x|y"})],
        'sep=|\na|b\n1|2\n|3\n"x|y"|',
        id="adds rows to a file without a line end",
    ),
    pytest.param(
        '"a","b"\n"1","2"\n',
        [add({"a": "3"})],
        '"a","b"\n"1","2"\n"3",""\n',
        id="adds quotes if the header has them",
    ),
    pytest.param(
        "a,b\n",
        [add({"a": 12345678901234567890})],
        "a,b\n12345678901234567890,\n",
        id="adds the first row, with all digits",
    ),
    pytest.param(
        "a\nx\n",
        [change(0, {"a": "x"}, {"a": None})],
        'a\n""\n',
        id="keeps a row whose only cell becomes empty",
    ),
]


@pytest.mark.parametrize(("before", "edits", "after"), CSV)
def test_csv(tmp_path: Path, before: str, edits: list[dict[str, Any]], after: str) -> None:
    assert edited(tmp_path, "d.csv", before, *edits) == after


def test_tsv_without_quotes(tmp_path: Path) -> None:
    text = 'a\tb\n5" pipe\t1\n"odd\t2\n'
    row = {"a": '5" pipe', "b": "1"}
    assert edited(tmp_path, "d.tsv", text, change(0, row, {"a": '"6'})) == (
        'a\tb\n"6\t1\n"odd\t2\n'
    )
    with pytest.raises(EditError, match="Row 1: a cell of this file, which has no quotes"):
        edited(tmp_path, "d.tsv", text, change(0, row, {"a": "x\ty"}))


JSON_LINES = [
    pytest.param(
        '{"a":1.50, "b" : {"id":12345678901234567890}}\r\n\r\n{"a": 2}\r\n',
        [change(0, {"a": 1.5}, {"a": "Zoë"})],
        '{"a":"Zo\\u00eb", "b" : {"id":12345678901234567890}}\r\n\r\n{"a": 2}\r\n',
        id="keeps the other values of the line, digit by digit",
    ),
    pytest.param(
        '{"a": 1}\nnot json\n{"a": 2}',
        [change(1, {"a": 2}, {"b": [1, {"c": None}]})],
        '{"a": 1}\nnot json\n{"a": 2, "b": [1, {"c": null}]}',
        id="adds a missing value, and does not count unreadable lines",
    ),
    pytest.param(
        '\ufeff{"a": 1}\n{"a": 2}\n',
        [delete(0, {"a": 1}), add('{"a": [\n1e400,\n 2]}')],
        '\ufeff{"a": 2}\n{"a": [ 1e400,  2]}\n',
        id="deletes the first line, and writes a new row in one line",
    ),
    pytest.param(
        '{"a": 1}\n',
        [change(0, {"a": 1}, '{"a": ["b\u2028c",\n2]}')],
        '{"a": ["b\u2028c", 2]}\n',
        id="keeps line separators within text",
    ),
    pytest.param("{}\n", [change(0, {}, {"a": 1})], '{"a": 1}\n', id="fills an empty object"),
    pytest.param(
        '{"a": 1, "a": 2}\n',
        [change(0, {"a": 2}, {"a": 3})],
        '{"a": 1, "a": 3}\n',
        id="changes the value that counts",
    ),
    pytest.param("", [add({"a": 1})], '{"a": 1}\n', id="begins an empty file"),
]


@pytest.mark.parametrize(("before", "edits", "after"), JSON_LINES)
def test_jsonl(tmp_path: Path, before: str, edits: list[dict[str, Any]], after: str) -> None:
    assert edited(tmp_path, "d.jsonl", before, *edits) == after


REFUSED = [
    pytest.param([change(0, {"a": "2"}, {"a": "3"})], StaleError, "Row 1 is not", id="other row"),
    pytest.param([delete(0, {"b": "1"})], StaleError, "Row 1 is not", id="other columns"),
    pytest.param([delete(7, {})], StaleError, "Row 8 is not", id="beyond the end"),
    pytest.param([delete(0, {}), delete(0, {})], EditError, "two edits", id="twice"),
    pytest.param([add({"c": "1"})], EditError, "The new row: .* no column c", id="column"),
    pytest.param([add("[1]")], EditError, "JSON text of an object", id="no object"),
    pytest.param([add('{"a"')], EditError, "JSON text of an object", id="no JSON"),
    pytest.param([add({"a": "\0"})], EditError, "NUL", id="NUL"),
]


@pytest.mark.parametrize(("edits", "error", "message"), REFUSED)
def test_refuses(
    tmp_path: Path, edits: list[dict[str, Any]], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        edited(tmp_path, "d.csv", "a\n1\n", *edits)


def test_refuses_files_with_many_rows_and_other_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_lines, "ROWS_MAX", 2)
    with pytest.raises(PlainError, match=r"d.csv has more than 2 rows"):
        edited(tmp_path, "d.csv", "a\n1\n2\n3\n", delete(0, {}))
    with pytest.raises(PlainError, match="only csv, tsv, jsonl and parquet"):
        edited(tmp_path, "d.json", "[]", add({}))


def example() -> pa.Table:
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            ("text", pa.large_string()),
            ("score", pa.float32()),
            ("price", pa.decimal128(8, 2)),
            ("label", pa.dictionary(pa.int8(), pa.string())),
            ("is_good", pa.bool_()),
            ("day", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("messages", pa.list_(message)),
            ("picture", picture),
        ],
        metadata={"huggingface": "{}"},
    )
    return pa.table(
        {
            "id": [2**60 + 1, 2, 3],
            "text": ["a", None, "c"],
            "score": [0.5, None, 1.5],
            "price": [Decimal("1.10"), None, Decimal("3.00")],
            "label": ["x", "y", "x"],
            "is_good": [True, None, False],
            "day": [date(2026, 1, 2), None, date(2026, 3, 4)],
            "at": [datetime(2026, 1, 2, tzinfo=UTC)] * 3,
            "messages": [[{"role": "user", "content": "Hi"}], None, []],
            "picture": [{"bytes": b"\x89PNG", "path": None}] * 3,
        },
        schema=schema,
    )


def test_parquet_keeps_types_row_groups_and_codec(tmp_path: Path) -> None:
    cells = {
        "text": "new",
        "score": 2,
        "price": "7.25",
        "label": "z",
        "is_good": False,
        "day": "2026-05-06T00:00:00.000Z",
        "at": "2026-05-06T07:08:09",
        "messages": [{"role": "user", "content": "Bye"}],
    }
    before = example()
    after = edited_table(
        tmp_path,
        before,
        change(1, {"id": 2, "text": None}, cells),
        change(0, {"id": str(2**60 + 1)}, f'{{"id": {2**60 + 3}, "text": null}}'),
        row_group_size=2,
        compression="zstd",
    )
    schema = pq.read_table(tmp_path / "data").schema
    assert after.schema.equals(schema, check_metadata=True)
    rows = after.to_pylist()
    assert rows[0] == before.to_pylist()[0] | {"id": 2**60 + 3, "text": None}
    assert rows[2] == before.to_pylist()[2]
    assert rows[1] == {
        **{"id": 2, "text": "new", "score": 2.0, "price": Decimal("7.25"), "label": "z"},
        **{"is_good": False, "day": date(2026, 5, 6)},
        "at": datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC),
        "messages": [{"role": "user", "content": "Bye"}],
        "picture": {"bytes": b"\x89PNG", "path": None},
    }
    metadata = pq.ParquetFile(tmp_path / "result").metadata
    assert [metadata.row_group(at).num_rows for at in range(2)] == [2, 1]
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_parquet_deletes_and_adds_rows(tmp_path: Path) -> None:
    edits = [delete(0, {}), delete(2, {"text": "c"}), add({"id": 9, "text": "z"})]
    after = edited_table(tmp_path, example(), *edits, row_group_size=1)
    assert after.select(["id", "text", "score"]).to_pylist() == [
        {"id": 2, "text": None, "score": None},
        {"id": 9, "text": "z", "score": None},
    ]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"id": 1.5}, "Row 1: column id holds int64, which this value is not"),
        ({"id": None}, "column id must have a value"),
        ({"id": "abc"}, "column id holds int64"),
        ({"text": 5}, "column text holds large_string"),
        ('{"score": 1e400}', "column score cannot hold a number of this size"),
        ({"price": 1.234}, r"column price holds decimal128\(8, 2\)"),
        ({"day": "soon"}, "column day holds date32"),
        ({"messages": [{"role": "user", "text": "Hi"}]}, "column messages holds list"),
        ({"picture": {"bytes": "4 bytes", "path": None}}, "column picture holds struct"),
        ({"nothing": 1}, "no column nothing"),
    ],
)
def test_parquet_refuses_values_of_other_types(
    tmp_path: Path, cells: dict[str, Any] | str, message: str
) -> None:
    with pytest.raises(EditError, match=message):
        edited_table(tmp_path, example(), change(0, {"text": "a"}, cells))


def test_parquet_refuses_other_rows(tmp_path: Path) -> None:
    others = {"text": "c"}, {"nothing": 1}, {"score": 0.25}, {"messages": []}
    message = {"messages": [{"role": "user", "content": "Bye"}]}
    for edit in (delete(3, {}), *(delete(0, was) for was in (*others, message))):
        with pytest.raises(StaleError):
            edited_table(tmp_path, example(), edit)


def test_answers_for_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "data").write_text("a\n1\n")

    def answer(name: str, *edits: dict[str, Any]) -> dict[str, Any]:
        asked = {"folder": str(tmp_path), "file": "data", "name": name, "edits": edits}
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(asked)))
        assert main(["edit-rows"]) == 0
        return json.loads(capsys.readouterr().out)

    assert answer("in/d.csv", add({"a": "2"})) == {}
    assert (tmp_path / "scratch" / "result").read_text() == "a\n1\n2\n"
    assert answer("d.csv", delete(5, {})) == {"stale": "Row 6 is not the row that you edited."}
    assert answer("d.csv", add({}), add({"b": 1})) == {
        "refused": "The new row: the file has no column b.",
        "index": 1,
    }
    assert answer("d.parquet", add({})) == {"unreadable": "d.parquet is not a parquet file."}


def test_parquet_tells_an_empty_list_from_null(tmp_path: Path) -> None:
    with pytest.raises(StaleError):
        edited_table(tmp_path, example(), delete(2, {"id": 3, "messages": None}))
    with pytest.raises(StaleError):
        edited_table(tmp_path, example(), delete(1, {"id": 2, "messages": []}))
