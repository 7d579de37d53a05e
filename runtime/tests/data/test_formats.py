from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.conversations import Conversation, Passage
from bakehouse_runtime.data.formats import recognise_format
from bakehouse_runtime.data.rows import Rows, read_rows
from bakehouse_runtime.data.table import NUL, DataError, Dropped
from bakehouse_runtime.data.turns import Turn
from train_spec import data_spec

if TYPE_CHECKING:
    from bakehouse_runtime.data.turns import Role

# First rows and their format.
_FORMATS = Path(__file__).parent / "fixtures/formats.json"


@pytest.mark.parametrize(
    "case", json.loads(_FORMATS.read_text("utf-8")), ids=lambda case: case["what"]
)
def test_recognises_the_format_of_the_first_rows(case: dict[str, Any]) -> None:
    rows = [dict(zip(case["columns"], row, strict=True)) for row in case["rows"]]
    found = recognise_format(case["columns"], rows)
    expected = case["format"] and {"rejected_column": None, "label_column": None} | case["format"]
    assert (found and asdict(found)) == expected


def read(folder: Path, rows: list[dict[str, Any]], **changes: Any) -> Rows:
    path = folder / "x.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return read_rows(
        path, data_spec(path.name, **({"input_column": None, "output_column": None} | changes))
    )


def turns(*messages: tuple[Role, str]) -> list[Turn]:
    return [Turn(*one) for one in messages]


def test_reads_messages_up_to_the_last_answer(tmp_path: Path) -> None:
    messages = [("developer", "Be brief."), ("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")]
    rows = read(tmp_path, [{"messages": [{"role": r, "content": c} for r, c in messages]}])
    assert rows.format.format == "messages"
    assert list(rows.rows) == [
        Conversation(1, turns(("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello")))
    ]


def test_empty_column_name_disables_the_system_prompt(tmp_path: Path) -> None:
    row = {"instruction": "Add.", "output": "2", "system": "Be brief."}
    messages = turns(("user", "Add."), ("assistant", "2"))
    assert list(read(tmp_path, [row], system_column="").rows) == [Conversation(1, messages)]
    prompted = [Turn("system", "Be brief."), *messages]
    assert list(read(tmp_path, [row]).rows) == [Conversation(1, prompted)]


def test_ignores_the_case_of_roles_and_empty_system_prompts(tmp_path: Path) -> None:
    messages = [("System", " "), (" User", "Hi"), ("ASSISTANT", "Hello")]
    rows = read(tmp_path, [{"messages": [{"role": r, "content": c} for r, c in messages]}])
    assert list(rows.rows) == [Conversation(1, turns(("user", "Hi"), ("assistant", "Hello")))]


def test_reads_sharegpt_with_its_system_prompt(tmp_path: Path) -> None:
    messages = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    rows = read(
        tmp_path, [{"system": "Be brief.", "conversations": messages}, {"conversations": messages}]
    )
    assert [row.turns for row in rows.rows if isinstance(row, Conversation)] == [
        turns(("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello")),
        turns(("user", "Hi"), ("assistant", "Hello")),
    ]


def test_appends_alpacas_input_to_its_instruction(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        [
            {"instruction": "Add.", "input": "1 + 1", "output": "2"},
            {"instruction": "Greet.", "input": "", "output": "Hello"},
        ],
    )
    assert [row.turns for row in rows.rows if isinstance(row, Conversation)] == [
        turns(("user", "Add.\n\n1 + 1"), ("assistant", "2")),
        turns(("user", "Greet."), ("assistant", "Hello")),
    ]


def test_reads_a_text_column_as_passages(tmp_path: Path) -> None:
    rows = read(tmp_path, [{"text": "Once upon a time"}, {"text": ""}])
    assert list(rows.rows) == [
        Passage(1, "Once upon a time"),
        Dropped(2, "column text is empty"),
    ]


def test_reads_conversations_as_json_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        'messages\n"[{""role"": ""user"", ""content"": ""Hi""}, '
        '{""role"": ""assistant"", ""content"": ""Hello""}]"\n[1\n'
    )
    rows = read_rows(path, data_spec("x.csv", input_column=None, output_column=None))
    assert list(rows.rows) == [
        Conversation(2, turns(("user", "Hi"), ("assistant", "Hello"))),
        Dropped(3, "column messages is not a list in JSON"),
    ]


def test_reads_only_the_used_columns_of_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"id": [7], "messages": [messages]}), path)
    rows = read_rows(path, data_spec("x.parquet", input_column=None, output_column=None))
    assert list(rows.rows) == [Conversation(1, turns(("user", "Hi"), ("assistant", "Hello")))]


USER_TURN = Turn("user", "Hi")
USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([USER], "messages has no turn of the assistant: nothing could be learnt"),
        ([], "messages has no turn of the assistant: nothing could be learnt"),
        ("Hi", "column messages holds text, not a list of turns"),
        (None, "column messages is missing"),
        (["Hi"], "messages[0] holds text, not an object"),
        (
            [USER, {"role": "narrator", "content": "x"}],
            "messages[1].role is narrator, not system, user, assistant or tool",
        ),
        ([USER, {"content": "x"}], "messages[1].role is missing"),
        (
            [USER, {"role": ["a"], "content": "x"}],
            "messages[1].role is a list, not system, user, assistant or tool",
        ),
        (
            json.dumps([USER, {"role": "assistant", "content": "\ud83d"}]),
            "half of a surrogate pair stands where a character should",
        ),
        (json.dumps([USER, {"role": "a\0", "content": "x"}]), NUL),
        ([USER, {"role": "assistant", "content": " "}], "messages[1].content is empty"),
        ([USER, {"role": "assistant"}], "messages[1].content is missing"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
            "messages[0].content[0].type is image_url: only text can be trained on",
        ),
        ([{"role": "user", "content": ["Hi"]}], "messages[0].content[0] holds text, not an object"),
        ([{"role": "user", "content": []}], "messages[0].content is empty"),
        (
            [USER, {"role": "assistant", "content": "x", "weight": 0.5}],
            "messages[1].weight is neither 0 nor 1",
        ),
        (
            [USER, {"role": "assistant", "content": "x", "train": "no"}],
            "messages[1].train is neither true nor false",
        ),
        (
            [USER, {"role": "assistant", "content": "x", "weight": 0}],
            "every answer is only read, as its weight says or because it opens the conversation: "
            "nothing could be learnt",
        ),
        (
            [{"role": "assistant", "content": "Welcome."}],
            "every answer is only read, as its weight says or because it opens the conversation: "
            "nothing could be learnt",
        ),
        (
            [USER, {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}],
            "messages[1].tool_calls[0].name is missing",
        ),
        (
            [USER, {"role": "assistant", "tool_calls": [{"function": {"name": " "}}]}],
            "messages[1].tool_calls[0].function.name is missing",
        ),
        (
            [USER, {"role": "assistant", "tool_calls": [{"name": "add", "arguments": "[1]"}]}],
            "messages[1].tool_calls[0].arguments is not an object",
        ),
        (
            [USER, {"role": "assistant", "function_call": {"name": "add", "arguments": "{1"}}],
            "messages[1].function_call.arguments is not JSON",
        ),
        (
            [USER, {"role": "assistant", "content": "", "reasoning_content": "2 and 2"}],
            "messages[1].content is empty",
        ),
        (
            [USER, {"role": "tool", "content": "4"}],
            "messages[1] is the result of no call before it",
        ),
    ],
)
def test_drops_a_bad_conversation_with_its_row_and_field(
    tmp_path: Path, messages: Any, reason: str
) -> None:
    good = [USER, {"role": "assistant", "content": "Hello"}]
    rows = read(tmp_path, [{"messages": good}, {"messages": messages}])
    assert [row for row in rows.rows if isinstance(row, Dropped)] == [Dropped(2, reason)]


def dialogue(*messages: tuple[str, Any], **more: Any) -> list[dict[str, Any]]:
    """Returns messages, with extra fields on the last one."""
    found: list[dict[str, Any]] = [{"role": role, "content": said} for role, said in messages]
    return [*found[:-1], found[-1] | more]


@pytest.mark.parametrize("unlearnt", [{"weight": 0}, {"weight": 0.0}, {"train": False}])
def test_excludes_answers_with_weight_0_or_train_false(
    tmp_path: Path, unlearnt: dict[str, Any]
) -> None:
    first = dialogue(("user", "Hi"), ("assistant", "Hello"), **unlearnt)
    last = dialogue(("user", "Bye"), ("assistant", "So long"), weight=1, train=None)
    read_only = Turn("assistant", "Hello", is_learnt=False)
    whole = [USER_TURN, read_only, *turns(("user", "Bye"), ("assistant", "So long"))]
    rows = list(read(tmp_path, [{"messages": [*first, *last]}, {"messages": [*last, *first]}]).rows)
    # Turns after the last trained answer are dropped.
    assert rows == [Conversation(1, whole), Conversation(2, whole[2:])]


def test_excludes_an_answer_that_opens_a_conversation(tmp_path: Path) -> None:
    opening = dialogue(("assistant", "Welcome."), ("user", "Hi"), ("assistant", "Hello"))
    rows = [{"messages": opening}, {"messages": opening, "system": "Be brief."}]
    without, prompted = (
        row.turns for row in read(tmp_path, rows).rows if isinstance(row, Conversation)
    )
    assert [turn.is_learnt_answer for turn in without] == [False, False, True]
    assert [turn.is_learnt_answer for turn in prompted] == [False, True, False, True]


def test_joins_content_in_text_parts(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "Good "}, {"type": "text", "text": "day"}]
    messages = dialogue(("system", [{"type": "text", "text": " "}]), ("user", parts))
    rows = read(tmp_path, [{"messages": [*messages, *dialogue(("assistant", "Hello"))]}])
    assert list(rows.rows) == [Conversation(1, turns(("user", "Good day"), ("assistant", "Hello")))]


def test_trains_on_the_answers_of_a_completion_in_messages(tmp_path: Path) -> None:
    prompt = dialogue(("system", "Be brief."), ("user", "Hi"), ("assistant", "Yo"), ("user", "Eh?"))
    rows = [
        {"prompt": prompt, "completion": dialogue(("assistant", "Hello"))},
        {"prompt": "Hi", "completion": dialogue(("assistant", "Hello"), ("user", "Bye"))},
        {"prompt": prompt, "completion": dialogue(("user", "Bye"))},
    ]
    found = list(read(tmp_path, rows).rows)
    assert found == [
        Conversation(
            1,
            [
                *turns(("system", "Be brief."), ("user", "Hi")),
                Turn("assistant", "Yo", is_learnt=False),
                *turns(("user", "Eh?"), ("assistant", "Hello")),
            ],
        ),
        Conversation(2, turns(("user", "Hi"), ("assistant", "Hello"))),
        Dropped(3, "completion has no turn of the assistant: nothing could be learnt"),
    ]


@pytest.mark.parametrize("name", ["bot", "ai", "bard", "bing", "chatgpt"])
def test_knows_the_speakers_of_public_sharegpt_files(tmp_path: Path, name: str) -> None:
    said = [{"from": "prompter", "value": "Hi"}, {"from": name, "value": "Hello"}]
    rows = read(tmp_path, [{"conversations": said}])
    assert list(rows.rows) == [Conversation(1, turns(("user", "Hi"), ("assistant", "Hello")))]


def test_reads_decimals_dates_and_times_of_parquet_as_text(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "x.parquet"
    answers = [Decimal("1.50"), date(2026, 11, 20), datetime(2026, 11, 20, 4, 5)]
    for answer, text in zip(answers, ["1.50", "2026-11-20", "2026-11-20 04:05:00"], strict=True):
        pq.write_table(pa.table({"q": ["When?"], "a": [answer]}), path)
        rows = read_rows(path, data_spec(path.name))
        assert list(rows.rows) == [Conversation(1, turns(("user", "When?"), ("assistant", text)))]


def test_chosen_format_overrides_the_recognised_one(tmp_path: Path) -> None:
    row = {
        "question": "Hi",
        "answer": "Hello",
        "text": "Once",
        "chat": [{"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}],
    }
    assert read(tmp_path, [row]).format.input_column == "chat"
    assert list(read(tmp_path, [row], format="text").rows) == [Passage(1, "Once")]
    pair = read(tmp_path, [row], format="prompt_completion", system_column="text")
    (conversation,) = pair.rows
    assert isinstance(conversation, Conversation)
    assert conversation.turns == turns(("system", "Once"), ("user", "Hi"), ("assistant", "Hello"))
    named = read(tmp_path, [row], format="text", input_column="answer")
    assert list(named.rows) == [Passage(1, "Hello")]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (
            None,
            "The format of x.jsonl is not recognized: choose one, and the columns that it needs.",
        ),
        (
            "messages",
            "x.jsonl must have exactly one column with lists of messages (role, content).",
        ),
        ("sharegpt", "x.jsonl must have exactly one column with lists of turns (from, value)."),
        ("alpaca", "x.jsonl has no columns instruction and output."),
        (
            "prompt_completion",
            "Choose which columns of x.jsonl contain the question and the answer.",
        ),
        ("text", "Choose which column of x.jsonl contains the text."),
    ],
)
def test_rejects_a_file_in_another_format_with_its_columns(
    tmp_path: Path, wanted: str | None, sentence: str
) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, [{"one": "1", "two": "2"}], format=wanted)
    assert str(caught.value) == f"{sentence} Its columns are: one, two."


def test_reads_written_turns_of_a_pair_if_the_assistant_is_last(tmp_path: Path) -> None:
    columns = {"input_column": "q", "output_column": "a"}
    asked, answered = '[{"role": "user", "content": "Hi"}]', '[{"from": "gpt", "value": "Hello"}]'
    (chat,) = read(tmp_path, [{"q": asked, "a": answered}], **columns).rows
    assert chat == Conversation(1, turns(("user", "Hi"), ("assistant", "Hello")))
    (text,) = read(tmp_path, [{"q": "As JSON?", "a": asked}], **columns).rows
    assert text == Conversation(1, turns(("user", "As JSON?"), ("assistant", asked)))
    few = [{"q": "As JSON?", "a": answered}, *({"q": "Hi", "a": "Hello"} for _ in range(2))]
    first = next(iter(read(tmp_path, few, **columns).rows))
    assert first == Conversation(1, turns(("user", "As JSON?"), ("assistant", answered)))
