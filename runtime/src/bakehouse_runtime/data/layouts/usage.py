"""Decides how columns are used from their values, because names alone can mislead."""

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

# Number of rows in which possible marks for missing answers are counted.
_COUNTED_ROWS = 1000
_PAIRS = ("alpaca", "prompt_completion", "preference", "feedback", "prompts")


@dataclass
class Usage:
    """How columns are used. `missing` counts the rows that were dropped while reading."""

    format: DataFormat
    # Columns that are not read although their names are known.
    ignored: frozenset[str] = frozenset()
    # Columns of a pair whose texts contain turns.
    written: frozenset[str] = frozenset()
    # Whether a missing answer can only be marked by text.
    has_marks: bool = False
    # The marks that are regular answers, with their counts in the first `counted` rows.
    regular: Counter[str] = field(default_factory=Counter[str])
    counted: int = 0
    missing: int = 0

    def applied(self, row: Row) -> Row | Dropped:
        """Returns the row with only its used columns."""
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
        """Returns warnings about answers that may mark a missing value, once all rows are read."""
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
    """Returns how the columns of a file with these first rows are used; `read` rereads all rows.
    `has_marks`: cells are always text, so a missing answer is marked by text."""
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
    """Returns the columns with no readable value in any of the first rows."""
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
    """Returns the columns that would exclude every row. Such a column must have another meaning."""
    rules = dict(decisive_columns(columns, data_format))

    def left(names: Iterable[str], row: Row) -> set[str]:
        return {name for name in names if rules[name].leaves_out(row.values.get(name))}

    found = set(rules)
    for row in first:
        found = left(found, row)
    # Rows may be sorted by the column, so check all of them.
    for item in read() if found else ():
        found = left(found, item) if isinstance(item, Row) else found
        if not found:
            break
    return frozenset(found)


def _written(
    columns: tuple[str, ...], first: Sequence[Row], data_format: DataFormat
) -> frozenset[str]:
    """Returns the columns of a pair with turns in at least half of their first texts. For an answer
    column the last turn must be the assistant's, since an answer may itself be a list in text."""
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
    """Finds the marks that are regular answers: at least 1 % of the rows, and more than one row."""
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
    """Returns the mark for a missing value in a cell, or None if the cell holds a value."""
    return value.strip() if isinstance(value, str) and is_missing_mark(value) else None
