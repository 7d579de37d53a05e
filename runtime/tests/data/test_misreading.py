"""Property test with random files: structured files are never read as text, and known columns are
either used or mentioned in a warning."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bakehouse_runtime.data.conversations import Conversation, Passage
from bakehouse_runtime.data.layouts.columns import ANSWER, PAIRS, ROLES
from bakehouse_runtime.data.rows import read_rows
from bakehouse_runtime.data.table import Dropped
from bakehouse_runtime.errors import PlainError
from train_spec import data_spec

FILES = 150
ROWS = 3
DELIMITERS = (",", ";", "\t", "|", "^", "~", "  ", "::", " # ", "/", " -> ")
WORDS = ("Bread", "it's", 'a "loaf"', "1, 2", "[so]", "(or not)", "{x}", "rye;", "a|b", "done.")
TURN_KEYS = (("role", "content"), ("from", "value"))
OTHERS = ("id", "url", "category", "text_id", "Source")


@dataclass
class File:
    """A random file and how it was drawn."""

    name: str
    text: str
    is_text: bool
    rows: list[dict[str, Any]]
    # The mark that each cell of a column contains, and no other column.
    marks: dict[str, str] = field(default_factory=dict)


class Draw:
    """Draws files; deterministic for a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.marked = 0

    def file(self) -> File:
        marks: dict[str, str] = {}
        kind = self.random.choice(["chat", "pair", "instruction", "text", "nested"])
        rows = self._rows(kind, marks)
        name, text = self._written(rows)
        return File(name, text, kind == "text", rows, marks)

    def _rows(self, kind: str, marks: dict[str, str]) -> list[dict[str, Any]]:
        names = self._main_columns(kind)
        if kind != "text":
            names += self._other_columns(names)
        self.random.shuffle(names)
        marks |= {name: self._mark() for name in names}
        main = names if kind == "text" else names[:0]
        chats = {name for name in names if kind == "chat" and name.lower() in ("chat", "messages")}
        keys = self.random.choice(TURN_KEYS)
        rows: list[dict[str, Any]] = []
        for _ in range(ROWS):
            row: dict[str, Any] = {}
            for name in names:
                said = self._sentence(marks[name])
                row[name] = self._chat(said, keys) if name in chats else said
                if kind == "nested" and name not in main:
                    row[name] = self._nested(said)
            rows.append(row)
        return rows

    def _main_columns(self, kind: str) -> list[str]:
        names = {
            "chat": [self.random.choice(["messages", "chat"])],
            "pair": list(self.random.choice(PAIRS)),
            "instruction": ["instruction", self.random.choice(ANSWER.names)],
            "text": [self.random.choice(["text", "content"])],
            "nested": [self.random.choice(["text", "row", "data"])],
        }[kind]
        return [self.random.choice([name, name.capitalize(), name.upper()]) for name in names]

    def _other_columns(self, names: list[str]) -> list[str]:
        known = [name for role in ROLES for name in role.names]
        drawn = [
            *self.random.sample(known, self.random.choice([0, 0, 1, 2, 3])),
            *self.random.sample(OTHERS, self.random.choice([0, 1])),
        ]
        taken = {name.lower() for name in names}
        return [name for name in drawn if name.lower() not in taken]

    def _mark(self) -> str:
        self.marked += 1
        return f"Mark{self.marked}x"

    def _sentence(self, mark: str) -> str:
        words = self.random.choices(WORDS, k=self.random.randint(3, 6))
        return " ".join([*words, mark, "you", "bake."])

    def _chat(self, said: str, keys: tuple[str, str]) -> list[dict[str, str]]:
        speaker, content = keys
        user, assistant = ("user", "assistant") if speaker == "role" else ("human", "gpt")
        return [{speaker: user, content: "Hi"}, {speaker: assistant, content: said}]

    def _nested(self, said: str) -> object:
        return self.random.choice([{"a": said}, [said, said], [{"a": said}], {"a": [said]}])

    def _written(self, rows: list[dict[str, Any]]) -> tuple[str, str]:
        match self.random.choice(["csv", "csv", "jsonl", "json", "wrapped"]):
            case "csv":
                return self._csv(rows)
            case "jsonl":
                is_cell = self.random.random() < 0.5
                cells = [self._cells(row) if is_cell else row for row in rows]
                return "d.jsonl", "".join(f"{json.dumps(row)}\n" for row in cells)
            case "json":
                return "d.json", json.dumps(rows, indent=self.random.choice([None, 1]))
        return "d.json", json.dumps({"version": "1", "data": rows})

    def _csv(self, rows: list[dict[str, Any]]) -> tuple[str, str]:
        delimiter = self.random.choice(DELIMITERS)
        lines: list[list[str]] = [list(rows[0]), *(list(self._cells(row).values()) for row in rows)]
        name = "d.tsv" if delimiter == "\t" and self.random.random() < 0.5 else "d.csv"
        is_whole = self.random.random() < 0.2
        out = io.StringIO()
        if len(delimiter) == 1:
            quoting: Any = self.random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
            csv.writer(out, delimiter=delimiter, quoting=quoting).writerows(lines)
        else:
            out.write("".join(f"{delimiter.join(line)}\n" for line in lines))
        if not is_whole:
            return name, out.getvalue()
        whole = io.StringIO()
        quoted = csv.writer(whole, quoting=csv.QUOTE_ALL)
        quoted.writerows([line] for line in out.getvalue().splitlines())
        return name, whole.getvalue()

    def _cells(self, row: dict[str, Any]) -> dict[str, str]:
        def write(value: object) -> str:
            if isinstance(value, str):
                return value
            forms = [json.dumps, str]
            if isinstance(value, list):
                forms += [_array(str), _array(repr)]
            return self.random.choice(forms)(value)

        return {name: write(value) for name, value in row.items()}


def _array(printed: Any) -> Any:
    """Returns how NumPy prints a list in a data frame."""

    def write(value: list[object]) -> str:
        array = np.empty(len(value), dtype=object)
        array[:] = value
        return printed(array)

    return write


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 8))]
)
def test_never_misreads_a_file_silently(tmp_path: Path, seed: int) -> None:
    draw = Draw(seed)
    for number in range(FILES):
        file = draw.file()
        fault = misreading(tmp_path, file)
        assert fault is None, f"seed {seed}, file {number}: {fault}\n{file.name}\n{file.text}"


def misreading(folder: Path, file: File) -> str | None:
    """Returns what is wrong with how a file is read; None if it is correct or rejected."""
    path = folder / file.name
    path.write_text(file.text, newline="")
    try:
        rows = read_rows(path, data_spec(path.name, input_column=None, output_column=None))
        found = list(rows.rows)
    except PlainError:
        return None
    if all(isinstance(row, Dropped) for row in found):
        return None
    if rows.format.format == "text" and not file.is_text:
        return "a structure is read as text"
    learnt = "\n".join(_said(row) for row in found)
    said = "\n".join(
        [
            *(row.reason for row in found if isinstance(row, Dropped)),
            *rows.warnings(path.name),
        ]
    )
    for column, mark in file.marks.items():
        if mark not in learnt and column not in said and "fields instead of" not in said:
            return f"column {column} is dropped without a word"
    return None


def _said(row: Conversation | Passage | Dropped) -> str:
    if isinstance(row, Passage):
        return row.text
    return "\n".join(turn.content for turn in row.turns) if isinstance(row, Conversation) else ""
