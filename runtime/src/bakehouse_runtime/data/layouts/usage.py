"""How the columns of a file are used, by what stands in them: a name alone may mislead."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from ..cells import is_missing_mark
from ..conversations import are_tools, is_context, is_history
from ..table import Dropped, Row
from ..turns import ends_with_an_answer, written_turns
from .columns import (
    answer_columns,
    context_columns,
    decisive_columns,
    history_column,
    pair_columns,
    tools_column,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..formats import DataFormat

# Rows in which the answers are counted that may stand for no value.
_COUNTED_ROWS = 1000
_PAIRS = ("alpaca", "prompt_completion", "preference", "feedback", "prompts")


@dataclass
class Usage:
    """How columns are used. `missing` counts the rows that were dropped while reading."""

    format: DataFormat
    # Columns that are not read though their names mean something.
    ignored: frozenset[str] = frozenset()
    # Columns of a pair in whose texts turns are written.
    written: frozenset[str] = frozenset()
    # Whether the file has no other way to say that an answer is missing.
    has_marks: bool = False
    # The marks of these that are answers like others, and in how many of so many rows.
    regular: Counter[str] = field(default_factory=Counter[str])
    counted: int = 0
    missing: int = 0

    def applied(self, row: Row) -> Row | Dropped:
        """The row with what is used of it."""
        values = row.values
        if self.has_marks:
            for column in answer_columns(tuple(values), self.format):
                mark = _mark(values.get(column))
                if mark and mark not in self.regular:
                    self.missing += 1
                    reason = f"column {column} is {mark}, which stands for no value"
                    return Dropped(row.line, reason)
        if not self.ignored and not self.written:
            return row
        used = {name: value for name, value in values.items() if name not in self.ignored}
        for name in self.written & used.keys():
            used[name] = written_turns(used[name]) or used[name]
        return Row(row.line, used)

    def warnings(self) -> list[str]:
        """What is said of answers that may stand for no value, once all rows are read."""
        said: list[str] = []
        if self.missing:
            rows = "1 row has" if self.missing == 1 else f"{self.missing} rows have"
            said.append(
                f"{rows} NULL, None or the like as an answer, which stands for no value: dropped. "
                "Save the file as JSON lines if it is the answer."
            )
        said.extend(
            f"{mark} is the answer in {count} of the first {self.counted} rows, and is learnt: "
            "leave the cells empty if it stands for no value."
            for mark, count in self.regular.items()
        )
        return said


def usage_of(
    first: Sequence[Row],
    data_format: DataFormat,
    read: Callable[[], Iterable[Row | Dropped]],
    *,
    has_marks: bool,
) -> Usage:
    """How the columns of a file with these first rows are used; `read` reads all rows once more.
    `has_marks`: texts are all that it has, so that a missing answer is written as one."""
    columns = tuple(dict.fromkeys(name for row in first for name in row.values))
    usage = Usage(
        data_format,
        _unread(columns, first, data_format) | _deciding_nothing(columns, first, data_format, read),
    )
    if data_format.format not in _PAIRS:
        return usage
    usage.written = _written(columns, first, data_format)
    usage.has_marks = has_marks
    if has_marks:
        _count_marks(usage, read())
    return usage


def _unread(
    columns: tuple[str, ...], first: Sequence[Row], data_format: DataFormat
) -> frozenset[str]:
    """The columns of which nothing can be read in any of the first rows."""
    readers = dict.fromkeys(context_columns(columns, data_format), is_context)
    if history := history_column(columns, data_format):
        readers[history] = is_history
    if tools := tools_column(columns, data_format):
        readers[tools] = are_tools
    return frozenset(
        name
        for name, is_readable in readers.items()
        if (values := [row.values[name] for row in first if row.values.get(name)])
        and not any(map(is_readable, values))
    )


def _deciding_nothing(
    columns: tuple[str, ...],
    first: Sequence[Row],
    data_format: DataFormat,
    read: Callable[[], Iterable[Row | Dropped]],
) -> frozenset[str]:
    """The columns that would leave out every row: they say something else."""
    rules = dict(decisive_columns(columns, data_format))

    def left(names: Iterable[str], row: Row) -> set[str]:
        return {name for name in names if rules[name].leaves_out(row.values.get(name))}

    found = set(rules)
    for row in first:
        found = left(found, row)
    # Rows may be sorted by it.
    for item in read() if found else ():
        found = left(found, item) if isinstance(item, Row) else found
        if not found:
            break
    return frozenset(found)


def _written(
    columns: tuple[str, ...], first: Sequence[Row], data_format: DataFormat
) -> frozenset[str]:
    """The columns of a pair that have turns in half of their first texts, those of an answer with
    the assistant's as the last: other texts may be answers that are written so."""
    question, _ = pair_columns(columns, data_format)
    answers = answer_columns(columns, data_format)
    found: set[str] = set()
    for name in (question, *answers):
        texts = [text for row in first if isinstance(text := row.values.get(name), str) and text]
        turns = [turns for text in texts if (turns := written_turns(text)) is not None]
        if name in answers:
            turns = [one for one in turns if ends_with_an_answer(one)]
        if turns and 2 * len(turns) >= len(texts):
            found.add(name)
    return frozenset(found)


def _count_marks(usage: Usage, rows: Iterable[Row | Dropped]) -> None:
    """Finds the marks that are answers like others: one in a hundred, and more than one in all."""
    counts: Counter[str] = Counter()
    for item in islice(rows, _COUNTED_ROWS):
        if isinstance(item, Row):
            usage.counted += 1
            columns = answer_columns(tuple(item.values), usage.format)
            counts.update(mark for name in columns if (mark := _mark(item.values.get(name))))
    usage.regular = Counter(
        {
            mark: count
            for mark, count in counts.items()
            if count > 1 and 100 * count >= usage.counted
        }
    )


def _mark(value: object) -> str | None:
    """What stands for no value in a cell; None where it holds one."""
    return value.strip() if isinstance(value, str) and is_missing_mark(value) else None
