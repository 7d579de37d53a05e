"""Turns a row of a data file into a conversation or a text to continue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .cells import is_missing_mark, list_of
from .layouts.columns import (
    answer_columns,
    context_columns,
    decisive_columns,
    history_column,
    pair_columns,
    rating_of,
    tools_column,
)
from .table import Dropped, UnusableError
from .tools import read_tools
from .turns import (
    KEYS,
    Turn,
    as_text,
    is_blank,
    keys_of,
    kind_of,
    read_dialogue,
    require_an_answer,
    shortened,
    turn_list,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .formats import DataFormat
    from .segments import Span
    from .table import Row
    from .tools import Tool
    from .turns import Role


@dataclass
class Conversation:
    """The turns of one row; the last one is an answer that counts in the loss."""

    line: int
    turns: list[Turn]
    # The functions that it may call.
    tools: list[Tool] = field(default_factory=list)


@dataclass(kw_only=True)
class Preference(Conversation):
    """A conversation whose answer is better than another answer to the same question."""

    # The same turns up to the answer, and the worse answer.
    rejected: list[Turn]


@dataclass(kw_only=True)
class Rated(Conversation):
    """A conversation whose last answer is good or bad."""

    good: bool


@dataclass(kw_only=True)
class Prompt(Conversation):
    """A conversation that ends with a question, and the reference for its answers."""

    reference: str | None


@dataclass
class Passage:
    """A row whose whole text counts in the loss."""

    line: int
    text: str


@dataclass(frozen=True)
class Rendered:
    """A conversation as one text, and the spans of it that count in the loss."""

    text: str
    learnt: list[Span]
    # The number of the turn that each span belongs to.
    learnt_turns: list[int]
    # Whether the chat template rewrites an earlier answer, which then does not count in the loss.
    is_rewritten: bool = False
    # Whether a special token ends every span.
    is_ended: bool = True


def read_row(row: Row, data_format: DataFormat) -> Conversation | Passage | Dropped:
    """Returns the row in this format, or why it cannot be used, with the name of the field."""
    values = row.values
    try:
        _assert_nothing_left_out(values, data_format)
        if data_format.format == "text":
            column = data_format.input_column
            return Passage(row.line, as_text(values.get(column), f"column {column}"))
        if data_format.format == "preference":
            better, worse = _preference(values, data_format)
            return Preference(row.line, better, _tools(values, data_format), rejected=worse)
        if data_format.format == "feedback":
            good, turns = _rated(values, data_format)
            return Rated(row.line, turns, _tools(values, data_format), good=good)
        if data_format.format == "prompts":
            turns, reference = _prompt(values, data_format)
            return Prompt(row.line, turns, _tools(values, data_format), reference=reference)
        return Conversation(row.line, _turns(values, data_format), _tools(values, data_format))
    except UnusableError as error:
        return Dropped(row.line, str(error))


def _tools(values: dict[str, Any], data_format: DataFormat) -> list[Tool]:
    """Returns the functions of a row, from their own column or from the request in the question
    column."""
    column = tools_column(tuple(values), data_format)
    if column is not None:
        return read_tools(values[column], f"column {column}")
    request = values.get(data_format.input_column)
    return read_tools(request.get("tools"), "tools") if isinstance(request, dict) else []


def are_tools(value: object) -> bool:
    """Returns whether the value holds callable functions."""
    return _can_be_read(lambda: read_tools(value, ""))


def _assert_nothing_left_out(values: dict[str, Any], data_format: DataFormat) -> None:
    """Raises UnusableError if the row itself excludes it from training."""
    for column, rule in decisive_columns(tuple(values), data_format):
        if rule.leaves_out(values[column]):
            said = shortened(str(values[column]))
            raise UnusableError(f"column {column} is {said}: not to be learnt")


def _turns(values: dict[str, Any], data_format: DataFormat) -> list[Turn]:
    match data_format.format:
        case "messages" | "sharegpt" as name:
            turns = read_dialogue(values, data_format.input_column, *KEYS[name])
        case _:
            turns = [*_history(values, data_format), *_pair(values, data_format)]
    return _up_to_the_last_learnt([*_system(values, data_format, turns), *turns])


def _system(values: dict[str, Any], data_format: DataFormat, turns: list[Turn]) -> list[Turn]:
    """Returns the system prompt of a row whose turns have none of their own."""
    prompt = _optional_text(values, data_format.system_column)
    if prompt is None or turns[0].role == "system":
        return []
    return [Turn("system", prompt)]


def _up_to_the_last_learnt(turns: list[Turn]) -> list[Turn]:
    """Drops the turns after the last answer that counts in the loss."""
    if turns[0].role == "assistant":
        # Without a question before it, the template's preamble would count in the loss.
        turns[0] = turns[0]._replace(is_learnt=False)
    learnt = [at for at, turn in enumerate(turns) if turn.is_learnt_answer]
    if not learnt:
        raise UnusableError(
            "every answer is only read, as its weight says or because it opens the conversation: "
            "nothing could be learnt"
        )
    return turns[: learnt[-1] + 1]


def _pair(values: dict[str, Any], data_format: DataFormat) -> list[Turn]:
    question, answer = pair_columns(tuple(values), data_format)
    return [*_question(values, data_format, question), *_side(values, answer, "assistant")]


def _question(values: dict[str, Any], data_format: DataFormat, column: str) -> list[Turn]:
    """Returns a question with its context; earlier assistant turns do not count in the loss."""
    *earlier, asked = _side(values, column, "user")
    contexts = (_context(values, name) for name in context_columns(tuple(values), data_format))
    said = "\n\n".join([asked.content, *(context for context in contexts if context)])
    return [
        turn._replace(is_learnt=turn.role != "assistant")
        for turn in (*earlier, asked._replace(content=said))
    ]


def _preference(values: dict[str, Any], data_format: DataFormat) -> tuple[list[Turn], list[Turn]]:
    """Returns the conversation with the better answer, and the same with the worse one."""
    better, worse = (
        _answered(values, data_format, column)
        for column in answer_columns(tuple(values), data_format)
    )
    said = [[(turn.role, turn.said.strip()) for turn in turns] for turns in (better, worse)]
    if said[0] == said[1]:
        raise UnusableError("both answers are the same")
    if said[0][:-1] != said[1][:-1]:
        raise UnusableError("the two conversations differ in more than their last answers")
    asked = _asked(better, "answers")
    return [*asked, better[-1]], [*asked, worse[-1]]


def _rated(values: dict[str, Any], data_format: DataFormat) -> tuple[bool, list[Turn]]:
    """Returns whether the answer is good, and the conversation that it ends."""
    column = data_format.label_column or ""
    value = values.get(column)
    good = rating_of(value)
    if is_blank(value):
        raise UnusableError(
            f"column {column} is empty: write true, 1 or up where the answer is good, and false, 0 "
            "or down where it is bad"
        )
    if good is None:
        raise UnusableError(
            f"column {column} is {shortened(str(value))}, neither good (true, 1, up) nor bad "
            "(false, 0, down)"
        )
    turns = _answered(values, data_format, data_format.output_column)
    return good, [*_asked(turns, "answer"), turns[-1]]


def _prompt(values: dict[str, Any], data_format: DataFormat) -> tuple[list[Turn], str | None]:
    column, answer = data_format.input_column, data_format.output_column
    turns = [*_history(values, data_format), *_question(values, data_format, column)]
    if turns[-1].role not in ("user", "tool"):
        raise UnusableError(
            f"column {column} ends with what the {turns[-1].role} says: end it with the question"
        )
    compared = values.get(answer)
    # verl stores the reference in a `reward_model` object.
    if isinstance(compared, dict) and "ground_truth" in compared:
        compared = compared["ground_truth"]
    reference = as_text(compared, f"column {answer}") if answer else None
    return [*_system(values, data_format, turns), *turns], reference


def _asked(turns: list[Turn], answers: str) -> list[Turn]:
    """Returns the turns before the last answer, excluded from the loss."""
    if all(turn.role == "system" for turn in turns[:-1]):
        raise UnusableError(f"no question stands before the {answers}")
    return [turn._replace(is_learnt=turn.role != "assistant") for turn in turns[:-1]]


def _answered(values: dict[str, Any], data_format: DataFormat, column: str) -> list[Turn]:
    """Returns the question with the answer in a column, which may hold the whole conversation."""
    turns = [turn._replace(is_learnt=True) for turn in _side(values, column, "assistant")]
    if data_format.input_column and turns[0].role == "assistant":
        asked = _question(values, data_format, data_format.input_column)
        # Some files also have the better answer at the end of the conversation.
        while asked and asked[-1].role == "assistant":
            asked.pop()
        turns = [*_history(values, data_format), *asked, *turns]
    end = max(at for at, turn in enumerate(turns) if turn.role == "assistant") + 1
    return [*_system(values, data_format, turns), *turns[:end]]


def _context(values: dict[str, Any], column: str) -> str | None:
    """Returns the context of a question; several passages are joined as paragraphs."""
    value = values[column]
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return _optional_text(values, column)


def is_context(value: object) -> bool:
    """Returns whether the value can be the context of a question."""
    return _can_be_read(lambda: _context({"": value}, ""))


def _history(values: dict[str, Any], data_format: DataFormat) -> list[Turn]:
    column = history_column(tuple(values), data_format)
    return [] if column is None else _earlier_turns(values[column], column)


def is_history(value: object) -> bool:
    """Returns whether the value holds turns before a question."""
    return _can_be_read(lambda: _earlier_turns(value, ""))


def _can_be_read(read: Callable[[], object]) -> bool:
    try:
        read()
    except UnusableError:
        return False
    return True


def _earlier_turns(value: object, column: str) -> list[Turn]:
    """Reads turns, or pairs of question and answer, as in ChatGLM and LLaMA-Factory."""
    if is_blank(value):
        return []
    found = list_of(value)
    if found is None:
        raise UnusableError(f"column {column} holds {kind_of(value)}, not earlier turns")
    if any(isinstance(item, dict) for item in found):
        return turn_list(found, column, *keys_of(found))
    turns: list[Turn] = []
    for at, pair in enumerate(found):
        where = f"{column}[{at}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise UnusableError(f"{where} is not a pair of a question and an answer")
        turns.append(Turn("user", as_text(pair[0], f"{where}[0]")))
        turns.append(Turn("assistant", as_text(pair[1], f"{where}[1]")))
    return turns


def _side(values: dict[str, Any], column: str, role: Role) -> list[Turn]:
    """Returns one side of a pair: a text, or a list of turns."""
    value = values.get(column)
    if isinstance(value, dict):
        value = _turns_of_object(value)
    if not isinstance(value, list) or not any(isinstance(turn, dict) for turn in value):
        return [Turn(role, as_text(value, f"column {column}"))]
    turns = turn_list(value, column, *keys_of(value))
    if role == "assistant":
        require_an_answer(turns, column)
    if not turns:
        raise UnusableError(f"all turns in {column} are empty")
    return turns


def _turns_of_object(value: dict[str, Any]) -> object:
    """Returns the turns of a request, such as the input of OpenAI's preference format, or a single
    turn; the object itself if it is neither."""
    messages = value.get("messages")
    if isinstance(messages, list):
        return messages
    is_turn = any(set(keys) <= value.keys() for keys in KEYS.values())
    return [value] if is_turn else value


def _optional_text(values: dict[str, Any], column: str | None) -> str | None:
    if column is None:
        return None
    value = values.get(column)
    is_none = is_blank(value) or (isinstance(value, str) and is_missing_mark(value))
    return None if is_none else as_text(value, f"column {column}")
