"""The column names of public datasets by meaning, and the warning for each if it is unused.
Reading, warnings and errors follow from this table."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ..formats import DataFormat


class Role(NamedTuple):
    """The names of columns with one meaning, the most common name first."""

    names: tuple[str, ...]
    # The warning about an unused column: why it matters, and what to do.
    unused: str


DIALOGUE = Role(
    ("messages", "conversations", "conversation"),
    "one conversation is learnt of each row",
)
INSTRUCTION = Role(("instruction",), "one question is learnt of each row")
QUESTION = Role(
    ("question", "prompt", "query", "input", "inputs", "input_text"),
    "one question is learnt of each row",
)
# Read together with the question.
CONTEXT = Role(
    ("context", "passage", "paragraph"),
    "write it into the question if the answers rest on it",
)
ANSWER = Role(
    (
        *("output", "response", "answer", "completion", "target", "targets"),
        *("output_text", "target_text", "best_answer"),
    ),
    "one answer is learnt of each row",
)
SYSTEM = Role(
    ("system", "system_prompt", "system_message"),
    "choose it as the system prompt column if it holds prompts",
)
# The columns of Natural Instructions. The definition is the instruction for the inputs.
NATURAL_INSTRUCTIONS = ("definition", "inputs", "targets")
TEXT = Role(("text", "content"), "name it context if the answers depend on it")
EVIDENCE = Role(
    ("document", "article", "story", "background", "evidence"),
    "name it context if the answers rest on it",
)
HISTORY = Role(("history",), "write earlier turns into the conversation itself")
CHOICES = Role(
    ("choices", "options", "endings"),
    "answers that are only the number or letter of a choice are learnt unchanged",
)
# Pairs of the better and the worse answer.
PREFERENCES = (
    ("chosen", "rejected"),
    ("chosen_response", "rejected_response"),
    ("preferred_output", "non_preferred_output"),
)
PREFERENCE = Role(
    tuple(name for pair in PREFERENCES for name in pair),
    "choose the format Preferences to train on better and worse answers",
)
REASONING = Role(
    (
        *("reasoning", "reasoning_content", "thinking", "thought", "thoughts"),
        *("rationale", "explanation", "cot", "chain_of_thought"),
    ),
    "write thoughts into the answer if the model should learn them",
)
TOOLS = Role(("tools", "functions"), "they belong to conversations")
# The value decides whether the row is trained on.
LABEL = Role(
    ("label",),
    "good and bad rows are learnt alike: choose the format Feedback to learn from both",
)
# Whether an answer is good.
FEEDBACK = Role(
    ("label", "kto_tag", "thumbs", "thumbs_up", "rating", "feedback", "desirable", "is_good"),
    "choose the format Feedback if it says which answers are good and which are bad",
)
# The accepted values, in lower case.
GOOD = ("true", "1", "1.0", "yes", "good", "up", "thumbs_up", "thumbs up", "like", "👍")
BAD = (
    "false",
    "0",
    "0.0",
    "-1",
    "no",
    "bad",
    "down",
    "thumbs_down",
    "thumbs down",
    "dislike",
    "👎",
)
# The question of a row without an answer, and the reference for generated answers.
PROMPT = ("prompt", "question", "query", "instruction")
REFERENCE = Role(
    ("reference", "reference_answer", "ground_truth", "solution", "reward_model"),
    "choose the format Prompts to compare answers with it",
)
SPLIT = Role(("split", "partition"), "rows of every split are learnt")
WEIGHT = Role(("weight",), "every row counts the same")
# Columns allowed next to a question without an answer. The last ones are columns of verl.
COLUMNS_ALLOWED_WITH_PROMPTS = (
    *(name for role in (SYSTEM, CONTEXT, HISTORY, TOOLS, SPLIT, WEIGHT) for name in role.names),
    *("data_source", "ability", "extra_info"),
)
# Columns of the media that a text marks as <image>, <video> or <audio>.
MEDIA = tuple(
    f"{kind}{end}"
    for kind in ("image", "video", "audio")
    for end in ("", "s", "_path", "_file", "_url", "_id")
)

ROLES = (
    *(DIALOGUE, INSTRUCTION, QUESTION, CONTEXT, ANSWER, SYSTEM, TEXT, EVIDENCE, HISTORY, CHOICES),
    *(PREFERENCE, FEEDBACK, REASONING, TOOLS, LABEL, REFERENCE, SPLIT, WEIGHT),
)
_ROLE_OF = {name: role for role in ROLES for name in role.names}

# Names of two speakers. They are recognised only if a file has both columns.
SPEAKERS = (("user", "assistant"), ("human", "assistant"), ("human", "bot"), ("q", "a"))
# Question and answer columns: the usual pairs first, then any combination.
PAIRS = (
    *(("question", "answer"), ("prompt", "completion"), ("prompt", "response")),
    *(("query", "response"), ("input", "output")),
    *((asked, answered) for asked in QUESTION.names for answered in ANSWER.names),
    *SPEAKERS,
)
_HELD_OUT = {"test", "testing", "validation", "valid", "val", "dev", "eval", "evaluation"}


class ExclusionRule(NamedTuple):
    """The values of a role that exclude a row, and the warning about the column."""

    role: Role
    is_left_out: Callable[[str], bool]
    said: str

    def leaves_out(self, value: object) -> bool:
        """Returns whether a row with this value is excluded from training."""
        is_plain = isinstance(value, str | bool | int | float)
        return is_plain and self.is_left_out(str(value).strip())


LEFT_OUT = (
    ExclusionRule(
        LABEL,
        lambda text: text.lower() == "false",
        "Rows whose {column} is false are dropped as bad answers: choose the format Feedback to "
        "learn from them too",
    ),
    ExclusionRule(
        SPLIT,
        lambda text: text.lower() in _HELD_OUT,
        "Rows whose {column} is test or validation are dropped: only the others are learnt",
    ),
    ExclusionRule(
        WEIGHT,
        lambda text: re.fullmatch(r"[+-]?0+(\.0*)?", text) is not None,
        "Rows whose {column} is 0 are dropped; all other rows have the same weight",
    ),
)
_NAMED_COLUMNS_MAX = 5


def find(columns: Sequence[str], *names: str) -> str | None:
    """Returns the first of these columns that exists, ignoring case."""
    by_name = {column.strip().lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def find_all(columns: Sequence[str], *names: str) -> list[str]:
    """Returns the columns that exist, in the order of the names."""
    found = (find(columns, name) for name in names)
    return [column for column in found if column is not None]


@lru_cache(maxsize=256)
def decisive_columns(
    columns: tuple[str, ...], data_format: DataFormat
) -> list[tuple[str, ExclusionRule]]:
    """Returns the columns whose values exclude rows."""
    return [
        (column, rule)
        for rule in LEFT_OUT
        for column in find_all(columns, *rule.role.names)
        # In a text file a label does not rate an answer, because a text has no answers.
        if column not in data_format.columns
        and not (rule.role is LABEL and data_format.format == "text")
    ]


@lru_cache(maxsize=256)
def context_columns(columns: tuple[str, ...], data_format: DataFormat) -> list[str]:
    """Returns the columns that are read together with the question."""
    if data_format.format == "alpaca":
        return find_all(columns, "input", *CONTEXT.names)
    if data_format.format in ("prompt_completion", "preference", "feedback", "prompts"):
        is_instruction = find([data_format.input_column], *INSTRUCTION.names)
        found = find_all(columns, *(["input"] if is_instruction else []), *CONTEXT.names)
        return [column for column in found if column not in data_format.columns]
    return []


@lru_cache(maxsize=256)
def history_column(columns: tuple[str, ...], data_format: DataFormat) -> str | None:
    """Returns the column with the earlier turns of a question, if its format has none of its
    own."""
    column = find(columns, *HISTORY.names)
    has_question = data_format.format not in ("messages", "sharegpt", "text")
    return column if has_question and column not in data_format.columns else None


@lru_cache(maxsize=256)
def tools_column(columns: tuple[str, ...], data_format: DataFormat) -> str | None:
    """Returns the column with the functions that a conversation may call."""
    column = find(columns, *TOOLS.names)
    is_read = data_format.format != "text" and column not in data_format.columns
    return column if is_read else None


@lru_cache(maxsize=256)
def used_columns(columns: tuple[str, ...], data_format: DataFormat) -> frozenset[str]:
    """Returns all columns that are read in this format."""
    found = {
        *data_format.columns,
        *context_columns(columns, data_format),
        *(column for column, _ in decisive_columns(columns, data_format)),
    }
    others = (history_column(columns, data_format), tools_column(columns, data_format))
    found.update(column for column in others if column is not None)
    if data_format.format == "alpaca":
        found |= {column or "" for column in instruction_columns(columns)}
    return frozenset(found)


@lru_cache(maxsize=256)
def instruction_columns(columns: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Returns the columns of the instruction and its answer."""
    return find(columns, *INSTRUCTION.names), find(columns, *ANSWER.names)


def pair_columns(columns: tuple[str, ...], data_format: DataFormat) -> tuple[str, str]:
    """Returns the columns of question and answer in a format of pairs."""
    if data_format.format != "alpaca":
        return data_format.input_column, data_format.output_column
    # Rows of jsonl may use different names.
    question, answer = instruction_columns(columns)
    return question or "instruction", answer or "output"


def answer_columns(columns: tuple[str, ...], data_format: DataFormat) -> tuple[str, ...]:
    """Returns the answer columns in a format of pairs: for preferences the better and the worse
    answer."""
    _, answer = pair_columns(columns, data_format)
    return (answer, data_format.rejected_column) if data_format.rejected_column else (answer,)


def preference_columns(columns: Sequence[str]) -> tuple[str, str, str] | None:
    """Returns the question, or an empty name if there is none, the better answer and the worse
    one."""
    question = find(columns, *INSTRUCTION.names, *QUESTION.names, *DIALOGUE.names)
    for pair in PREFERENCES:
        better, worse = (find(columns, name) for name in pair)
        if better and worse:
            return question or "", better, worse
    return None


def rating_of(value: object) -> bool | None:
    """Returns whether a value rates an answer good or bad, or None if it is no rating."""
    said = str(value).strip().lower() if isinstance(value, str | bool | int | float) else ""
    return True if said in GOOD else False if said in BAD else None


def column_warnings(
    columns: Sequence[str], data_format: DataFormat, ignored: Collection[str]
) -> list[str]:
    """Returns warnings about columns that are unused or only exclude rows: one per column with a
    known meaning. `ignored` columns are unused although their names have a meaning."""
    names = tuple(column for column in columns if column not in ignored)
    used = used_columns(names, data_format)
    warnings = [
        f"{rule.said.format(column=column)}."
        for column, rule in decisive_columns(names, data_format)
    ]
    others: list[str] = []
    for column in columns:
        if column in used:
            continue
        role = _ROLE_OF.get(column.strip().lower())
        if role is None:
            others.append(column.strip() or "(no name)")
        else:
            warnings.append(f"Column {column} is not used: {role.unused}.")
    return [*warnings, *_others(others)]


def _others(columns: list[str]) -> list[str]:
    if not columns:
        return []
    named = ", ".join(columns[:_NAMED_COLUMNS_MAX])
    if len(columns) > _NAMED_COLUMNS_MAX:
        named += f" and {len(columns) - _NAMED_COLUMNS_MAX} more"
    if len(columns) == 1:
        return [f"1 other column is not used: {named}."]
    return [f"{len(columns)} other columns are not used: {named}."]
